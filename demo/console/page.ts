import { readFileSync } from "node:fs";
import { utcTime } from "../../src/outlets/console/tiles/as-of.ts";
import type { Button } from "../../src/outlets/console/tiles/button.ts";
import { html } from "../../src/web/html.ts";
import type { Page } from "../../src/web/page.ts";
import { shellQuoted } from "../banner.ts";
import type { DemoEcosystem } from "../ecosystems/ecosystem.ts";
import { attributeCounter, attributeTable } from "./attribute-table.ts";
import { pageOf } from "./document.ts";
import { disabledButton, formButtons } from "./form-button.ts";
import { homeSection } from "./home-section.ts";
import type { HouseView } from "./house-view.ts";
import { lampTile } from "./lamp-tile.ts";
import { recentChanges } from "./recent-changes.ts";
import type { StepNumber } from "./step-progress.ts";
import { stepStrip } from "./step-strip.ts";
import { topBar } from "./top-bar.ts";

export interface PageParts {
  readonly view: HouseView;
  readonly done: ReadonlySet<StepNumber>;
  readonly formToken: string;
  readonly baseUrl: string;
  readonly ecosystem: Pick<DemoEcosystem, "url" | "walk" | "lamp">;
  readonly accessTokenFile: string;
  readonly version: string;
  readonly nowMs: number;
  /** Why the last button failed. */
  readonly notice?: string | undefined;
  readonly filter?: string | undefined;
}

/**
 * The page of the house. Without JavaScript it is a snapshot; live.js reloads it after each event. The template `as-of`
 * holds the parts that live.js shows instead when the current state is unknown.
 */
export function housePage(parts: PageParts): Page {
  const { view, done, ecosystem, formToken, baseUrl, accessTokenFile, notice, filter, nowMs } = parts;
  const staleMs = view.isStale ? (view.confirmedTime ?? nowMs) : undefined;
  const homes = (button: Button, asOfMs: number | undefined) =>
    view.homes.map((home) => homeSection({ view: home, receipts: view.receipts, ecosystem, button, nowMs, asOfMs }));
  const power = view.lamp.power === "on" ? "off" : "on";
  const curl = `curl -X PUT ${baseUrl}/v3/devices/${view.lamp.deviceId} -H "Authorization: Bearer $(cat ${shellQuoted(accessTokenFile)})" -H "Content-Type: application/json" -d '{"power":"${power}"}'`;
  const body = html`<a class="skip" href="#house">Skip to the house</a>
${topBar({ ...parts, here: "house" }, staleMs)}
<main>
<p class="unknown" id="unknown" role="status">${staleMs === undefined ? undefined : `Unknown since ${utcTime(staleMs)}. The service receives nothing from the home ecosystem.`}</p>
${stepStrip({ view, done, ecosystem, curl })}
<p class="notice" data-part id="notice" role="status">${notice}</p>
<p hidden data-part id="fresh" data-stale="${view.isStale ? "yes" : "no"}" data-confirmed="${staleMs ?? ""}" data-now="${nowMs}"></p>
<div class="columns">
${lampTile(view, undefined)}
<div class="house" id="house" tabindex="-1">
${view.homes.length === 0 ? html`<p class="card">The account has no home. Add one on the simulator’s page.</p>` : homes(formButtons(formToken), staleMs)}
</div>
${recentChanges(view)}
${attributeTable(view, staleMs, filter)}
</div>
</main>
<template id="as-of">
${topBar({ ...parts, here: "house" }, staleMs ?? nowMs)}
${lampTile(view, nowMs)}
${homes(disabledButton, staleMs ?? nowMs)}
${attributeCounter(view, staleMs ?? nowMs)}
</template>
<footer><p>Breezeway ${parts.version} · this page is an ordinary client of <code>/v3</code> · read at <time data-part="quiet" id="read-at" datetime="${new Date(nowMs).toISOString()}">${utcTime(nowMs)}</time></p></footer>`;
  return pageOf({ title: "Maple Street", body, script, isUnknown: view.isStale });
}

const script = ["live.js", "house-page.js"]
  .map((file) => readFileSync(new URL(file, import.meta.url), "utf8"))
  .join("\n");
