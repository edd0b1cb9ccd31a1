import type { Alert, Command } from "../../sdk/src/index.ts";
import { type Html, html } from "../../src/web/html.ts";
import { lastKnown } from "./as-of.ts";
import type { DeviceView, HouseView, StructureView } from "./house-view.ts";
import { type Icon, iconOf } from "./icons.ts";

/** Builds a button that sends `action` (actions.ts). */
export type Button = (label: string, action: string, options?: ButtonOptions) => Html;
export interface ButtonOptions {
  readonly id: string;
  readonly kind?: "main" | "danger";
  /** Why the button is disabled. */
  readonly reason?: string | undefined;
}

const presences: Readonly<Record<string, { readonly word: string; readonly was: string; readonly icon: Icon }>> = {
  home: { word: "Somebody is home", was: "Somebody was home", icon: "house" },
  away: { word: "Nobody is home", was: "Nobody was home", icon: "away" },
  "auto-away": { word: "Nobody is home (auto-away)", was: "Nobody was home (auto-away)", icon: "away" },
};

/** A home with its devices. `asOfMs`: time of the last known state; undefined while the state is current. */
export function structureSection(structure: StructureView, button: Button, asOfMs: number | undefined): Html {
  const { x, fields, thermostats, alarms } = structure;
  return html`<section class="structure" aria-labelledby="structure-${x}-name">
${structureHead(structure, button, asOfMs)}
<div class="tiles">${thermostats.map((thermostat) => thermostatTile(thermostat, fields.away, button, asOfMs))}</div>
<div class="tiles small">${alarms.map((alarm) => alarmTile(alarm, asOfMs))}</div>
</section>`;
}

function presenceOf(fields: StructureView["fields"], asOfMs: number | undefined): Html {
  const away = fields.away ?? "unknown";
  const { word, was, icon } = presences[away] ?? { word: `Presence ${away}`, was: `Presence ${away}`, icon: "house" };
  if (asOfMs !== undefined) {
    return html`<p class="presence">${iconOf("offline")}<span>Presence unknown</span></p>${lastKnown(was, asOfMs)}`;
  }
  return html`<p class="presence ${away === "home" ? "is-home" : "is-away"}">${iconOf(icon)}<span>${word}</span></p>`;
}

function structureHead(
  { x, fields, emergency, alarms }: StructureView,
  button: Button,
  asOfMs: number | undefined,
): Html {
  const isHome = fields.away === "home";
  const isQuiet = alarms.every(({ fields: alarm }) => alarm.smokeAlarmState === "ok" && alarm.coAlarmState === "ok");
  return html`<div class="structure-head" data-part id="structure-${x}">
<div><h2 id="structure-${x}-name">${fields.name ?? `Structure ${x}`}</h2>
${presenceOf(fields, asOfMs)}</div>
<div class="buttons">
${isHome ? button("Leave home", `leave:${x}`, { id: `presence-${x}`, kind: "main" }) : button("Come home", `come-home:${x}`, { id: `presence-${x}`, kind: "main" })}
${
  emergency || !isQuiet
    ? button("Clear the air", `clear:${x}`, { id: `air-${x}` })
    : button("Make smoke", `smoke:${x}`, {
        id: `air-${x}`,
        kind: "danger",
        reason: alarms.length === 0 ? "There is no alarm here." : undefined,
      })
}
</div></div>`;
}

function thermostatTile(
  { x, y, fields, command }: DeviceView,
  away: string | undefined,
  button: Button,
  asOfMs: number | undefined,
): Html {
  const isKnown = asOfMs === undefined;
  const isOnline = fields.isOnline === "true";
  const isRunning = fields.fanTimerActive === "true";
  const reason = fanReason(fields);
  const action = `fan:${x}.${y}:${isRunning ? "false" : "true"}`;
  return html`<article class="tile thermostat ${thermostatLook(isKnown, isOnline, isRunning)}" data-part id="thermostat-${x}-${y}" aria-labelledby="thermostat-${x}-${y}-name">
<header>${iconOf(isKnown && isOnline ? "fan" : "offline")}<div><h3 id="thermostat-${x}-${y}-name">${fields.name ?? `Thermostat ${y}`}</h3><p class="kind">Thermostat${isKnown ? ` · ${isOnline ? "online" : "offline"}` : ""}</p></div></header>
<p class="says">${isKnown ? fanWords(fields, isRunning) : "Unknown"}</p>
${isKnown ? undefined : lastKnown(fanWas(fields, isOnline, isRunning), asOfMs)}
${button(isRunning ? "Stop fan" : "Run fan", action, { id: `fan-${x}-${y}`, reason })}
${isKnown && reason === undefined && away !== "home" ? html`<p class="hint">Nobody is home: the service will refuse it.</p>` : undefined}
${reason === undefined ? undefined : html`<p class="hint" id="fan-${x}-${y}-reason">${reason}</p>`}
<div class="outcome" role="status">${outcome(command, fields, isKnown)}</div>
</article>`;
}

function thermostatLook(isKnown: boolean, isOnline: boolean, isRunning: boolean): string {
  if (!isKnown) return "is-not-known";
  if (!isOnline) return "is-offline";
  return isRunning ? "is-running" : "";
}

function fanWas(fields: DeviceView["fields"], isOnline: boolean, isRunning: boolean): string {
  if (!isOnline) return "Offline";
  if (fields.hasFan === "false") return "No fan";
  return isRunning ? "The fan ran" : "The fan was off";
}

function fanReason(fields: DeviceView["fields"]): string | undefined {
  if (fields.hasFan === "false") return "This thermostat has no fan.";
  if (fields.isOnline === "false") return "The thermostat is offline.";
  return undefined;
}

function fanWords(fields: DeviceView["fields"], isRunning: boolean): Html {
  if (fields.hasFan === "false") return html`No fan`;
  if (!isRunning) return html`Fan off`;
  const until = fields.fanTimerTimeout ?? "";
  const left = Date.parse(until) - Date.now();
  if (Number.isNaN(left)) return html`Fan runs`;
  return html`Fan runs <time class="countdown" datetime="${until}" data-until="${until}">${clockOf(left)}</time>`;
}

/** `14:05`: minutes and seconds. */
function clockOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

const stages: Readonly<Record<string, number>> = { queued: 1, sending: 1, accepted: 2, confirmed: 3 };

/** Progress of the last fan request, or the error text that a client reads in `requestWrite`. */
function outcome(
  command: Command | undefined,
  { requestWrite, fanTimerActive }: DeviceView["fields"],
  isKnown: boolean,
): Html | undefined {
  if (requestWrite?.startsWith("error:"))
    return html`<p class="error">${iconOf("warning")}<span>${requestWrite}</span></p>`;
  if (!command) return undefined;
  // The fan has changed since the request was confirmed: "Running" beside a fan that is off would mislead.
  if (command.state === "confirmed" && command.value !== fanTimerActive) return undefined;
  const reached = stages[command.state];
  if (!isKnown && reached !== undefined) return undefined;
  if (reached === undefined) {
    return html`<p class="error">${iconOf("warning")}<span>${command.text ?? `The request is ${command.state}.`}</span></p>`;
  }
  const names = ["Sent", "Accepted", command.value === "true" ? "Running" : "Stopped"];
  return html`<ol class="stages">${names.map((name, place) => html`<li class="${place < reached ? "is-reached" : ""}">${name}</li>`)}</ol>`;
}

interface AlarmLook {
  readonly word: string;
  readonly icon: Icon;
  readonly look: string;
}

/** The state of an alarm as a word, an icon and a colour. */
export function alarmLook(fields: DeviceView["fields"]): AlarmLook {
  const { smokeAlarmState: smoke = "unknown", coAlarmState: co = "unknown", isOnline } = fields;
  if (smoke === "emergency" || co === "emergency") {
    const what = smoke === "emergency" ? (co === "emergency" ? "Smoke and CO" : "Smoke") : "CO";
    return { word: `${what} emergency`, icon: "flame", look: "red" };
  }
  if (smoke === "warning" || co === "warning") {
    const what = smoke === "warning" ? (co === "warning" ? "Smoke and CO" : "Smoke") : "CO";
    return { word: `${what} warning`, icon: "warning", look: "yellow" };
  }
  if (isOnline === "false") return { word: "Offline", icon: "offline", look: "gray" };
  if (smoke === "ok" && co === "ok") return { word: "All clear", icon: "shield", look: "green" };
  return { word: `Smoke ${smoke}, CO ${co}`, icon: "warning", look: "gray" };
}

/** While the current state is unknown, a last known warning or emergency stays visible; "All clear" becomes "Unknown". */
function alarmTile({ x, y, fields }: DeviceView, asOfMs: number | undefined): Html {
  const lastSeen = alarmLook(fields);
  const isAlarming = lastSeen.look === "red" || lastSeen.look === "yellow";
  const unknown: AlarmLook = { word: "Unknown", icon: "offline", look: "gray" };
  const { word, icon, look } = asOfMs === undefined || isAlarming ? lastSeen : unknown;
  const was = isAlarming ? "Seen" : lastSeen.look === "green" ? "No alarm" : lastSeen.word;
  return html`<article class="tile alarm ${look}" data-part id="alarm-${x}-${y}" aria-labelledby="alarm-${x}-${y}-name">
<header><span class="ring">${iconOf(icon)}</span><div><h3 id="alarm-${x}-${y}-name">${fields.name ?? `Alarm ${y}`}</h3><p class="kind">Smoke and CO alarm</p></div></header>
<p class="says">${word}</p>
${asOfMs === undefined ? undefined : lastKnown(was, asOfMs)}
</article>`;
}

/** The lamp, and the two alerts that drive it. */
export function lampTile(view: HouseView, asOfMs: number | undefined): Html {
  const { lamp, alerts } = view;
  const power = lamp.power ?? "unknown";
  const isKnown = asOfMs === undefined;
  const isOn = isKnown && lamp.power === "on";
  return html`<section class="card lamp ${isOn ? "is-on" : ""}" data-part id="lamp" aria-labelledby="lamp-name">
<header>${iconOf("lamp")}<div><h2 id="lamp-name">${lamp.name}</h2><p class="kind">An ordinary device, number ${lamp.deviceId}</p></div><p class="power">${isKnown ? power : "unknown"}</p></header>
${isKnown ? undefined : lastKnown(`Power was ${power}`, asOfMs)}
<ul class="alerts">${alerts.map((alert) => alertLine(alert, view, isKnown))}</ul>
</section>`;
}

function alertLine(alert: Alert, { structures, lamp }: HouseView, isKnown: boolean): Html {
  const { alertId, stringThreshold, targets, enable, disarmed } = alert;
  const x = Number(/\[(\d)\]/.exec(alert.attrName)?.[1]);
  const name = structures.find((structure) => structure.x === x)?.fields.name ?? "The house";
  const writes = targets
    .map(
      ({ deviceId, attrName, value }) =>
        `${deviceId === lamp.deviceId ? attrName : `${deviceId} › ${attrName}`} → ${value}`,
    )
    .join(", ");
  const status = enable ? (disarmed ? "fired, waits for a change" : "armed") : "off";
  return html`<li><span>Alert ${alertId}: when ${name} › ${alert.attrName.replace(/^.*\./, "")} is <code>${stringThreshold}</code>, ${writes}</span>${isKnown ? html` <span class="stands">${status}</span>` : undefined}</li>`;
}
