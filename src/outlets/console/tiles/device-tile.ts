import { ownSource } from "../../../own-things/own-things.ts";
import { type Html, html } from "../../../web/html.ts";
import { lastKnown } from "./as-of.ts";
import type { Button } from "./button.ts";
import { type Icon, iconOf } from "./icons.ts";
import { receiptProgress } from "./receipt-progress.ts";
import type { ShownReceipt, ShownThing } from "./shown-thing.ts";
import { climateWords } from "./thermostat-words.ts";

export interface DeviceParts {
  readonly thing: ShownThing;
  readonly receipt: ShownReceipt | undefined;
  readonly button: Button;
  /** Time of the last known state; undefined while the state is current. */
  readonly asOfMs: number | undefined;
}

const looks: Readonly<Record<string, { readonly word: string; readonly icon: Icon }>> = {
  light: { word: "Light", icon: "lamp" },
  switch: { word: "Switch", icon: "plug" },
  fan: { word: "Fan", icon: "fan" },
  sensor: { word: "Sensor", icon: "thermostat" },
};

/** A light, a switch, a fan or a sensor. While it does not answer, its last known state has the time of the last answer. */
export function deviceTile({ thing, receipt, button, asOfMs }: DeviceParts): Html {
  const { thingId, name, kind, room, traits } = thing;
  const look = looks[kind] ?? { word: "Device", icon: "house" };
  const { available } = (traits.onOff ?? traits.temperature ?? traits.humidity)?.state ?? {};
  // The type of an own device need not tell whether the device answers. Then what the company reports counts.
  const isUntold = thing.source === ownSource && (available?.value ?? null) === null;
  const isKnown = asOfMs === undefined && (available?.value === true || isUntold);
  const isOn = traits.onOff?.state.on?.value === true;
  const isOffline = asOfMs === undefined && available?.value === false;
  return html`<article class="tile device ${isKnown ? (isOn ? "is-on" : "") : "is-not-known"}" data-part id="${thingId}" aria-labelledby="${thingId}-name">
<header>${iconOf(isKnown ? look.icon : "offline")}<div><h3 id="${thingId}-name">${name ?? look.word}</h3><p class="kind">${[look.word, room].filter(Boolean).join(" · ")}</p></div></header>
<p class="says" id="${thingId}-says">${isKnown ? stateWords(thing) : isOffline ? "Offline" : "Unknown"}</p>
${isKnown ? undefined : lastKnown(stateWords(thing), asOfMs ?? available?.updateTime ?? 0)}
${controls(thing, button, isOn, isOffline ? `${thingId}-says` : undefined)}
<div class="outcome" role="status">${receiptProgress(thing, receipt, isKnown)}</div>
</article>`;
}

/** The state of a light, a switch, a fan or a sensor. */
export function stateWords(thing: ShownThing): string {
  const { onOff, brightness, fan } = thing.traits;
  if (!onOff) return climateWords(thing);
  const on = onOff.state.on?.value;
  if (on !== true) return on === false ? "Off" : "Unknown";
  const percent = (brightness ?? fan)?.state.percent?.value;
  return typeof percent === "number" ? `On, ${percent} %` : "On";
}

/** The levels that have a button. */
const levels = [25, 50, 100];

function controls({ thingId, traits }: ShownThing, button: Button, isOn: boolean, disabledBy: string | undefined) {
  if (!traits.onOff) return undefined;
  const power = { id: `power:${thingId}`, disabledBy };
  const leveled = traits.brightness ? "bright" : traits.fan ? "speed" : undefined;
  const shown = (traits.brightness ?? traits.fan)?.state.percent?.value;
  const level = (percent: number) =>
    button(`${percent} %`, `${leveled}-${percent}:${thingId}`, { isPressed: isOn && shown === percent, disabledBy });
  return html`<div class="row">${isOn ? button("Switch off", `off:${thingId}`, power) : button("Switch on", `on:${thingId}`, power)}${leveled === undefined ? undefined : levels.map(level)}</div>`;
}
