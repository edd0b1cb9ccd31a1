import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Html, html } from "../../src/web/html.ts";
import type { Page } from "../../src/web/page.ts";
import { quoted } from "../banner.ts";
import { utcTime } from "./as-of.ts";
import { attributeTable, attributeTally } from "./attribute-table.ts";
import { happenings } from "./happenings.ts";
import { iconOf, mark } from "./icons.ts";
import type { HouseView } from "./reading.ts";
import { stepStrip } from "./step-strip.ts";
import { style } from "./style.ts";
import { alarmLook, type Button, lampTile, structureSection } from "./tiles.ts";
import type { StepNumber } from "./walk.ts";

export interface PageParts {
  readonly view: HouseView;
  readonly done: ReadonlySet<StepNumber>;
  readonly formToken: string;
  readonly baseUrl: string;
  readonly simulatorUrl: string;
  readonly accessTokenFile: string;
  readonly version: string;
  readonly nowMs: number;
  /** What the last button led to, when it didn't do what it says. */
  readonly notice?: string | undefined;
  readonly filter?: string | undefined;
}

/**
 * The house as it stands. Without the script it is a snapshot; the script reads it anew whenever something happens. The
 * template holds the parts as the script shows them when it knows no more how the house is.
 */
export function housePage(parts: PageParts): Page {
  const { view, done, formToken, baseUrl, accessTokenFile, notice, filter, nowMs } = parts;
  const button: Button = (label, act, options) => actButton(formToken, label, act, options);
  const disabled: Button = (label, act, options) =>
    html`<button class="${options?.kind ?? ""}" id="${options?.id ?? act}" disabled>${label}</button>`;
  const staleMs = view.isStale ? (view.confirmedTime ?? nowMs) : undefined;
  const power = view.lamp.power === "on" ? "off" : "on";
  const curl = `curl -X PUT ${baseUrl}/v3/devices/${view.lamp.deviceId} -H "Authorization: Bearer $(cat ${quoted(accessTokenFile)})" -H "Content-Type: application/json" -d '{"power":"${power}"}'`;
  const body = html`<a class="skip" href="#house">Skip to the house</a>
${topBar(parts, staleMs)}
<main>
<p class="unknown" id="unknown" role="status">${staleMs === undefined ? undefined : `Unknown since ${utcTime(staleMs)}. The service can’t hear the home ecosystem.`}</p>
${stepStrip({ view, done, curl })}
<p class="notice" data-part id="notice" role="status">${notice}</p>
<p hidden data-part id="fresh" data-stale="${view.isStale ? "yes" : "no"}" data-confirmed="${staleMs ?? ""}" data-now="${nowMs}"></p>
<div class="columns">
${lampTile(view, undefined)}
<div class="house" id="house" tabindex="-1">
${view.structures.length === 0 ? html`<p class="card">The account has no home. Add one on the simulator’s page.</p>` : view.structures.map((structure) => structureSection(structure, button, staleMs))}
</div>
${happenings(view)}
${attributeTable(view, staleMs, filter)}
</div>
</main>
<template id="as-of">
${topBar(parts, staleMs ?? nowMs)}
${lampTile(view, nowMs)}
${view.structures.map((structure) => structureSection(structure, disabled, staleMs ?? nowMs))}
${attributeTally(view, staleMs ?? nowMs)}
</template>
<footer><p>Breezeway ${parts.version} · this page is an ordinary client of <code>/v3</code> · read at <time data-part="quiet" id="read-at" datetime="${new Date(nowMs).toISOString()}">${utcTime(nowMs)}</time></p></footer>`;
  return { html: document("Maple Street", body, script, view.isStale), contentSecurityPolicy: policy(script) };
}

/** Says why there is no house to see, and what to do. */
export function messagePage(title: string, sentence: string): Page {
  const body = html`<main class="message">${mark}<h1>${title}</h1><p>${sentence}</p></main>`;
  return { html: document(title, body, ""), contentSecurityPolicy: policy("") };
}

/** The head of the page; in an emergency it is the alarm. `asOfMs`: when the house was last known, if not now. */
function topBar({ view, simulatorUrl, nowMs }: PageParts, asOfMs: number | undefined): Html {
  const alarms = view.structures.flatMap(({ fields, alarms: all }) =>
    all
      .filter(({ fields: alarm }) => alarmLook(alarm).look === "red")
      .map(({ fields: alarm }) => `${alarmLook(alarm).word}: ${alarm.name}, ${fields.name}`),
  );
  const band = html`<p class="band" role="alert">${iconOf("flame")}<span>${alarms.join(" · ")}${asOfMs === undefined ? "" : ` (seen at ${utcTime(asOfMs)})`}</span></p>`;
  return html`<header class="top ${alarms.length > 0 ? "is-emergency" : ""}" data-part id="top">
<div class="bar"><p class="brand">${mark}<span>Breezeway</span></p><span class="badge">Test</span>
<p class="live" id="live">${asOfMs === undefined ? `Snapshot of ${utcTime(nowMs)}` : `Not live since ${utcTime(asOfMs)}`}</p>
<nav aria-label="Elsewhere"><a href="/docs">API docs</a><a href="${simulatorUrl}">Simulator</a></nav></div>
<h1 class="out-of-sight">The demo house</h1>
${alarms.length > 0 ? band : undefined}
</header>`;
}

function actButton(formToken: string, label: string, act: string, options?: Parameters<Button>[2]): Html {
  const { id = act, kind = "", reason } = options ?? {};
  const off = reason === undefined ? undefined : html` disabled aria-describedby="${id}-reason"`;
  return html`<form class="act" method="post" action="/console/do"><input type="hidden" name="form" value="${formToken}"><button class="${kind}" id="${id}" name="act" value="${act}"${off}>${label}</button></form>`;
}

const script = readFileSync(new URL("live.js", import.meta.url), "utf8");
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 26 26'%3E%3Crect width='26' height='26' rx='7' fill='%230b6470'/%3E%3Cpath d='M6 10h9a2.500 2.500 0 1 0-2.500-2.500M6 13.500h12.500a2.500 2.500 0 1 1-2.500 2.500M6 17h6' fill='none' stroke='%23fff' stroke-width='1.800' stroke-linecap='round'/%3E%3C/svg%3E";

/** The page's own style and script and nothing else; it talks to nobody but the service that sent it. */
function policy(ofScript: string): string {
  const digest = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  return [
    "default-src 'none'",
    `style-src ${digest(style)}`,
    ...(ofScript === "" ? [] : [`script-src ${digest(ofScript)}`, "connect-src 'self'"]),
    "img-src data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function document(title: string, body: Html, ofScript: string, isUnknown = false): string {
  const head = html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Breezeway demo</title>
<link rel="icon" href="${icon}">`;
  // Style and script are written as they are: their digests stand in the policy.
  return `<!doctype html>
<html lang="en"${isUnknown ? ' class="is-unknown"' : ""}>
<head>
${head.text}
<style>${style}</style>
</head>
<body>
${body.text}
${ofScript === "" ? "" : `<script>${ofScript}</script>`}
</body>
</html>
`;
}
