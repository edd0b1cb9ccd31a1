import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { alarmLook } from "../../src/outlets/console/tiles/alarm-tile.ts";
import { utcTime } from "../../src/outlets/console/tiles/as-of.ts";
import type { Button } from "../../src/outlets/console/tiles/button.ts";
import { iconOf, mark } from "../../src/outlets/console/tiles/icons.ts";
import { type Html, html } from "../../src/web/html.ts";
import type { Page } from "../../src/web/page.ts";
import { shellQuoted } from "../banner.ts";
import type { DemoEcosystem } from "../ecosystems/ecosystem.ts";
import { attributeCounter, attributeTable } from "./attribute-table.ts";
import { disabledButton, formButtons } from "./form-button.ts";
import { homeSection } from "./home-section.ts";
import type { HouseView } from "./house-view.ts";
import { lampTile } from "./lamp-tile.ts";
import { recentChanges } from "./recent-changes.ts";
import type { StepNumber } from "./step-progress.ts";
import { stepStrip } from "./step-strip.ts";
import { style } from "./style.ts";

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
${topBar(parts, staleMs)}
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
${topBar(parts, staleMs ?? nowMs)}
${lampTile(view, nowMs)}
${homes(disabledButton, staleMs ?? nowMs)}
${attributeCounter(view, staleMs ?? nowMs)}
</template>
<footer><p>Breezeway ${parts.version} · this page is an ordinary client of <code>/v3</code> · read at <time data-part="quiet" id="read-at" datetime="${new Date(nowMs).toISOString()}">${utcTime(nowMs)}</time></p></footer>`;
  return { html: document("Maple Street", body, script, view.isStale), contentSecurityPolicy: policy(script) };
}

/** A page that says why the house is not shown, and what to do. */
export function messagePage(title: string, sentence: string): Page {
  const body = html`<main class="message">${mark}<h1>${title}</h1><p>${sentence}</p></main>`;
  return { html: document(title, body, ""), contentSecurityPolicy: policy("") };
}

/** The header; it shows emergencies. `asOfMs`: time of the last known state; undefined while the state is current. */
function topBar({ view, ecosystem, nowMs }: PageParts, asOfMs: number | undefined): Html {
  const alarms = view.homes
    .flatMap((home) => home.alarms)
    .filter((alarm) => alarmLook(alarm).look === "red")
    .map((alarm) => `${alarmLook(alarm).word}: ${alarm.name ?? "Alarm"}, ${alarm.homeName ?? "no home"}`);
  const band = html`<p class="band" role="alert">${iconOf("flame")}<span>${alarms.join(" · ")}${asOfMs === undefined ? "" : ` (seen at ${utcTime(asOfMs)})`}</span></p>`;
  return html`<header class="top ${alarms.length > 0 ? "is-emergency" : ""}" data-part id="top">
<div class="bar"><p class="brand">${mark}<span>Breezeway</span></p><span class="badge">Test</span>
<p class="live" id="live">${asOfMs === undefined ? `Snapshot of ${utcTime(nowMs)}` : `Not live since ${utcTime(asOfMs)}`}</p>
<nav aria-label="Elsewhere"><a href="/docs">API docs</a><a href="${ecosystem.url}">Simulator</a></nav></div>
<h1 class="out-of-sight">The demo house</h1>
${alarms.length > 0 ? band : undefined}
</header>`;
}

const script = readFileSync(new URL("live.js", import.meta.url), "utf8");
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 26 26'%3E%3Crect width='26' height='26' rx='7' fill='%230b6470'/%3E%3Cpath d='M6 10h9a2.500 2.500 0 1 0-2.500-2.500M6 13.500h12.500a2.500 2.500 0 1 1-2.500 2.500M6 17h6' fill='none' stroke='%23fff' stroke-width='1.800' stroke-linecap='round'/%3E%3C/svg%3E";

/** Allows only the page's own style and script, by digest, and connections to the service that sent the page. */
function policy(scriptText: string): string {
  const digest = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  return [
    "default-src 'none'",
    `style-src ${digest(style)}`,
    ...(scriptText === "" ? [] : [`script-src ${digest(scriptText)}`, "connect-src 'self'"]),
    "img-src data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function document(title: string, body: Html, scriptText: string, isUnknown = false): string {
  const head = html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Breezeway demo</title>
<link rel="icon" href="${icon}">`;
  // Style and script are not escaped: the policy holds the digests of their exact text.
  return `<!doctype html>
<html lang="en"${isUnknown ? ' class="is-unknown"' : ""}>
<head>
${head.text}
<style>${style}</style>
</head>
<body>
${body.text}
${scriptText === "" ? "" : `<script>${scriptText}</script>`}
</body>
</html>
`;
}
