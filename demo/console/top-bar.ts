import { alarmLook } from "../../src/outlets/console/tiles/alarm-tile.ts";
import { utcTime } from "../../src/outlets/console/tiles/as-of.ts";
import { iconOf, mark } from "../../src/outlets/console/tiles/icons.ts";
import { type Html, html } from "../../src/web/html.ts";
import type { DemoEcosystem } from "../ecosystems/ecosystem.ts";
import type { HouseView } from "./house-view.ts";

export interface TopBarParts {
  readonly view: HouseView;
  readonly ecosystem: Pick<DemoEcosystem, "url">;
  readonly nowMs: number;
  /** The page that is shown. */
  readonly here: "house" | "assistants";
}

const pages = [
  { name: "House", path: "/demo/" },
  { name: "Assistants", path: "/demo/assistants/" },
];

/** The header; it shows emergencies. `asOfMs`: time of the last known state; undefined while the state is current. */
export function topBar({ view, ecosystem, nowMs, here }: TopBarParts, asOfMs: number | undefined): Html {
  const alarms = view.homes
    .flatMap((home) => home.alarms)
    .filter((alarm) => alarmLook(alarm).look === "red")
    .map((alarm) => `${alarmLook(alarm).word}: ${alarm.name ?? "Alarm"}, ${alarm.homeName ?? "no home"}`);
  const band = html`<p class="band" role="alert">${iconOf("flame")}<span>${alarms.join(" · ")}${asOfMs === undefined ? "" : ` (seen at ${utcTime(asOfMs)})`}</span></p>`;
  return html`<header class="top ${alarms.length > 0 ? "is-emergency" : ""}" data-part id="top">
<div class="bar"><p class="brand">${mark}<span>Breezeway</span></p><span class="badge">Test</span>
<p class="live" id="live">${asOfMs === undefined ? `Snapshot of ${utcTime(nowMs)}` : `Not live since ${utcTime(asOfMs)}`}</p>
<nav aria-label="Pages">${pages.map(({ name, path }) => html`<a href="${path}"${name.toLowerCase() === here ? html` aria-current="page"` : undefined}>${name}</a>`)}<a href="/docs">API docs</a><a href="${ecosystem.url}">Simulator</a></nav></div>
<h1 class="out-of-sight">${here === "house" ? "The demo house" : "Voice assistants of the demo house"}</h1>
${alarms.length > 0 ? band : undefined}
</header>`;
}
