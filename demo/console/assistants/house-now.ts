import type { Thing } from "../../../sdk/src/index.ts";
import { alarmLook } from "../../../src/outlets/console/tiles/alarm-tile.ts";
import { lastKnown } from "../../../src/outlets/console/tiles/as-of.ts";
import { stateWords } from "../../../src/outlets/console/tiles/device-tile.ts";
import { isFanRunning } from "../../../src/outlets/console/tiles/thermostat-tile.ts";
import { climateWords, modeWords } from "../../../src/outlets/console/tiles/thermostat-words.ts";
import { type Html, html } from "../../../src/web/html.ts";
import type { HouseView } from "../house-view.ts";

/** The house in a few lines, as /v3 tells it. `asOfMs`: time of the last known state; undefined while it is current. */
export function houseNow(view: HouseView, asOfMs: number | undefined): Html {
  const lines = [
    ...view.homes.flatMap(({ thermostats, alarms, others }) => [
      ...thermostats.map((thing) => ({ name: thing.name ?? "Thermostat", words: thermostatWords(thing) })),
      ...others.map((thing) => ({ name: thing.name ?? thing.kind, words: deviceWords(thing) })),
      ...alarms.map((thing) => ({ name: thing.name ?? "Alarm", words: alarmLook(thing).word })),
    ]),
    { name: view.lamp.name, words: view.lamp.power ?? "unknown" },
  ];
  return html`<section class="card house-now" data-part id="house-now" aria-labelledby="house-now-name">
<h2 id="house-now-name">The house now</h2>
<dl>${lines.map(({ name, words }) => html`<div><dt>${name}</dt><dd>${asOfMs === undefined ? words : html`Unknown${lastKnown(words, asOfMs)}`}</dd></div>`)}</dl>
<p><a href="/demo/">Open the house</a></p>
</section>`;
}

function thermostatWords(thing: Thing): string {
  if (thing.traits.thermostat?.state.available?.value === false) return "Offline";
  return [climateWords(thing), modeWords(thing), isFanRunning(thing) ? "fan runs" : "fan off"].join(" · ");
}

function deviceWords(thing: Thing): string {
  const { onOff, temperature, humidity } = thing.traits;
  return (onOff ?? temperature ?? humidity)?.state.available?.value === false ? "Offline" : stateWords(thing);
}
