import { type Html, html } from "../../../web/html.ts";
import { lastKnown } from "./as-of.ts";
import type { Button } from "./button.ts";
import { iconOf } from "./icons.ts";
import { receiptProgress } from "./receipt-progress.ts";
import type { ShownReceipt, ShownThing } from "./shown-thing.ts";
import { climateWords, hasTarget, modeName, modeWords } from "./thermostat-words.ts";

export interface ThermostatParts {
  readonly thing: ShownThing;
  readonly receipt: ShownReceipt | undefined;
  /** The ecosystem refuses commands, because nobody is home. */
  readonly isRefused: boolean;
  readonly button: Button;
  /** Time of the last known state; undefined while the state is current. */
  readonly asOfMs: number | undefined;
}

/** A thermostat with its fan. While it does not answer, its last known values have the time of the last answer. */
export function thermostatTile(parts: ThermostatParts): Html {
  const { thing, receipt, isRefused, asOfMs } = parts;
  const { thingId, name, traits } = thing;
  const { available } = traits.thermostat?.state ?? {};
  const isOnline = available?.value === true;
  const isKnown = asOfMs === undefined && isOnline;
  const isRunning = isFanRunning(thing);
  const unknownWord = asOfMs === undefined && available?.value === false ? "Offline" : "Unknown";
  const look = isKnown ? (isRunning ? "is-running" : "") : "is-not-known";
  return html`<article class="tile thermostat ${look}" data-part id="${thingId}" aria-labelledby="${thingId}-name">
<header>${iconOf(isKnown ? "thermostat" : "offline")}<div><h3 id="${thingId}-name">${name ?? "Thermostat"}</h3><p class="kind">Thermostat${isKnown ? " · online" : ""}</p></div></header>
<p class="says">${isKnown ? climateWords(thing) : unknownWord}</p>
${isKnown ? html`<p>${modeWords(thing)}${actionWords(thing)}</p>` : lastKnown(lastWords(thing), asOfMs ?? available?.updateTime ?? 0)}
${controls(parts, isRunning, isKnown)}
${available?.value === false ? html`<p class="hint" id="${thingId}-offline">The thermostat is offline.</p>` : undefined}
${isKnown && isRefused ? html`<p class="hint">Nobody is home: the ecosystem refuses to run the fan or to change the target.</p>` : undefined}
<div class="outcome" role="status">${receiptProgress(thing, receipt, isKnown)}</div>
</article>`;
}

function controls({ thing, button }: ThermostatParts, isRunning: boolean, isKnown: boolean): Html {
  const { thingId, traits } = thing;
  const { mode, available } = traits.thermostat?.state ?? {};
  const { modes } = traits.thermostat?.capabilities ?? {};
  const offline = available?.value === false ? `${thingId}-offline` : undefined;
  const noTarget = offline !== undefined || hasTarget(thing) ? undefined : `${thingId}-no-target`;
  const hasNoFan = traits.fanTimer ? traits.fanTimer.capabilities.supported === false : !traits.fan;
  const noFan = hasNoFan ? `${thingId}-fan` : undefined;
  const target = { disabledBy: offline ?? noTarget };
  const fan = { id: `fan:${thingId}`, disabledBy: offline ?? noFan };
  const [run, stop] = traits.fanTimer ? ["run-fan", "stop-fan"] : ["fan-on", `fan-${idleMode(thing)}`];
  return html`<div class="row">${button("Cooler", `cooler:${thingId}`, target)}${button("Warmer", `warmer:${thingId}`, target)}</div>
${noTarget === undefined ? undefined : html`<p class="hint" id="${noTarget}">This mode has no target to change.</p>`}
${Array.isArray(modes) ? html`<div class="row modes" role="group" aria-label="Mode">${modes.map((one) => button(modeName(one), `mode-${one}:${thingId}`, { isPressed: isKnown && mode?.value === one, disabledBy: offline }))}</div>` : undefined}
<div class="row fan">${iconOf("fan")}<p id="${thingId}-fan">${isKnown ? fanWords(thing, isRunning) : "Fan unknown"}</p>${isRunning ? button("Stop fan", `${stop}:${thingId}`, fan) : button("Run fan", `${run}:${thingId}`, fan)}</div>`;
}

/** What the equipment does, if it does something. */
function actionWords({ traits: { thermostat } }: ShownThing): string {
  const action = thermostat?.state.action?.value;
  return action === "heating" || action === "cooling" ? ` · ${action} now` : "";
}

/** A fan runs by a timer, or in a mode of its own. */
export function isFanRunning({ traits: { fanTimer, fan } }: ShownThing): boolean {
  return fanTimer ? fanTimer.state.active?.value === true : fan?.state.mode?.value === "on";
}

/** The mode in which a fan does not run by request. */
function idleMode({ traits: { fan } }: ShownThing): string {
  const { modes } = fan?.capabilities ?? {};
  return Array.isArray(modes) && modes.includes("auto") ? "auto" : "off";
}

function fanWords({ traits: { fanTimer, fan } }: ShownThing, isRunning: boolean): Html {
  if (!fanTimer) return fan ? html`Fan ${String(fan.state.mode?.value ?? "unknown")}` : html`No fan`;
  if (fanTimer.capabilities.supported === false) return html`No fan`;
  if (!isRunning) return fanTimer.state.active?.value === false ? html`Fan off` : html`Fan unknown`;
  const until = fanTimer.state.untilMs?.value;
  if (typeof until !== "number") return html`Fan runs`;
  const time = new Date(until).toISOString();
  return html`Fan runs <time class="countdown" datetime="${time}" data-until="${time}">${clockOf(until - Date.now())}</time>`;
}

function lastWords(thing: ShownThing): string {
  const { fanTimer, fan: trait } = thing.traits;
  const fanState = fanTimer ? fanTimer.state.active?.value : trait?.state.mode?.value;
  const fan = isFanRunning(thing)
    ? ", the fan ran"
    : fanState === false || fanState === "off"
      ? ", the fan was off"
      : "";
  return `${climateWords(thing)}, mode ${modeWords(thing)}${fan}`;
}

/** `14:05`: minutes and seconds. */
function clockOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
