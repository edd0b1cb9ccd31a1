import { readFileSync } from "node:fs";
import type { SimulatedAssistant } from "../../../simulator/assistants/assistant.ts";
import type { AssistantKind } from "../../../src/assistants/assistant.ts";
import { utcTime } from "../../../src/outlets/console/tiles/as-of.ts";
import type { Button } from "../../../src/outlets/console/tiles/button.ts";
import { html } from "../../../src/web/html.ts";
import type { Page } from "../../../src/web/page.ts";
import { leftOut, leftOutValues, thingIdOf } from "../../assistants/left-out.ts";
import type { DemoEcosystem } from "../../ecosystems/ecosystem.ts";
import { pageOf } from "../document.ts";
import { disabledButton, formButtons } from "../form-button.ts";
import type { HouseView } from "../house-view.ts";
import { topBar } from "../top-bar.ts";
import { assistantStyle } from "./assistant-style.ts";
import { deviceList } from "./device-list.ts";
import { exchangeList } from "./exchange-list.ts";
import { houseNow } from "./house-now.ts";
import { reportList } from "./report-list.ts";
import { talk } from "./talk.ts";

export interface AssistantPageParts {
  readonly kind: AssistantKind;
  readonly assistant: SimulatedAssistant;
  /** All assistants by their kinds, for the choice. */
  readonly titles: Readonly<Record<AssistantKind, string>>;
  readonly view: HouseView;
  readonly ecosystem: Pick<DemoEcosystem, "url">;
  /** The ids of the things that came from Google. */
  readonly fromGoogle: ReadonlySet<string>;
  readonly formToken: string;
  readonly version: string;
  readonly nowMs: number;
  /** Why the last request failed. */
  readonly notice?: string | undefined;
}

export const pathOf = (kind: string) => `/demo/assistants/${kind}`;

/** The page of a simulated assistant. live.js reads it again after each event, as it does with that of the house. */
export function assistantPage(parts: AssistantPageParts): Page {
  const { kind, assistant, titles, view, formToken, nowMs, notice } = parts;
  const { title } = assistant;
  const staleMs = view.isStale ? (view.confirmedTime ?? nowMs) : undefined;
  const bar = { ...parts, here: "assistants" } as const;
  const path = pathOf(kind);
  const talking = (button: Button, isEnabled: boolean) =>
    talk({ title, path, formToken, examples: assistant.examples(), button, problem: assistant.problem, isEnabled });
  const choices = Object.entries(titles).map(
    ([other, name]) =>
      html`<a href="${pathOf(other)}"${other === kind ? html` aria-current="page"` : undefined}>${name}</a>`,
  );
  const body = html`<a class="skip" href="#talk">Skip to the sentence</a>
${topBar(bar, staleMs)}
<main>
<p class="unknown" id="unknown" role="status">${staleMs === undefined ? undefined : `Unknown since ${utcTime(staleMs)}. The service receives nothing from the home ecosystem.`}</p>
<p class="notice" data-part id="notice" role="status">${notice}</p>
<p hidden data-part id="fresh" data-stale="${view.isStale ? "yes" : "no"}" data-confirmed="${staleMs ?? ""}" data-now="${nowMs}"></p>
<nav class="choice" aria-label="Assistants">${choices}</nav>
<div class="assistant">
<div class="talking">
${talking(formButtons(formToken, path), true)}
${exchangeList(title, assistant.exchanges)}
</div>
<div class="hearing">
${houseNow(view, staleMs)}
${reportList(title, assistant.reports)}
</div>
${knownDevices(parts, formButtons(formToken, path), true)}
</div>
</main>
<template id="as-of">
${topBar(bar, staleMs ?? nowMs)}
${talking(disabledButton, false)}
${houseNow(view, staleMs ?? nowMs)}
${knownDevices(parts, disabledButton, false)}
</template>
<footer><p>Breezeway ${parts.version} · ${title} is simulated on this machine and reaches the service as the real one does · read at <time data-part="quiet" id="read-at" datetime="${new Date(nowMs).toISOString()}">${utcTime(nowMs)}</time></p></footer>`;
  return pageOf({
    title: `${title} at Maple Street`,
    body,
    script,
    moreStyle: assistantStyle,
    isUnknown: view.isStale,
  });
}

function knownDevices(parts: AssistantPageParts, button: Button, isLive: boolean) {
  const { kind, assistant, view, fromGoogle } = parts;
  const { title } = assistant;
  const devices = assistant.devices();
  const rooms = new Map(view.things.map(({ thingId, room }) => [thingId, room ?? undefined]));
  const known = devices.map(({ id }) => id);
  return deviceList({
    title,
    devices: devices.map((device) => ({ ...device, room: device.room ?? rooms.get(thingIdOf(device.id)) })),
    leftOut: leftOut({ kind, title, things: view.things, known, fromGoogle }),
    leftOutValues: leftOutValues[kind],
    roomsFrom: kind === "alexa" ? "Alexa is not told rooms. The rooms here are those of /v3." : undefined,
    button,
    isCurrent: isLive && assistant.problem === undefined,
  });
}

const script = readFileSync(new URL("../live.js", import.meta.url), "utf8");
