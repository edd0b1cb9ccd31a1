import { alarmLook } from "../../../src/outlets/console/tiles/alarm-tile.ts";
import { lastKnown } from "../../../src/outlets/console/tiles/as-of.ts";
import { stateWords } from "../../../src/outlets/console/tiles/device-tile.ts";
import { isFanRunning } from "../../../src/outlets/console/tiles/thermostat-tile.ts";
import { climateWords, modeWords } from "../../../src/outlets/console/tiles/thermostat-words.ts";
import { type Html, html } from "../../../src/web/html.ts";
import type { HouseThing } from "../house-view.ts";

/** The house in a few lines. */
export function houseNow(things: readonly HouseThing[]): Html {
  const line = (thing: HouseThing) => {
    const words = wordsOf(thing);
    const was = words === "All clear" ? "No alarm" : words;
    const shown = thing.stale ? html`Unknown${lastKnown(was, thing.confirmedTime ?? 0)}` : words;
    return html`<div><dt><bdi>${thing.name ?? thing.kind}</bdi></dt><dd>${shown}</dd></div>`;
  };
  return html`<h2>The house now</h2>
<dl class="facts">${things.filter(({ kind }) => kind !== "home").map(line)}</dl>
<p class="small"><a href="/console/simulator">Open the simulator</a></p>`;
}

function wordsOf(thing: HouseThing): string {
  const { thermostat, onOff, temperature, humidity } = thing.traits;
  if (thing.kind === "alarm") return alarmLook(thing).word;
  if ((thermostat ?? onOff ?? temperature ?? humidity)?.state.available?.value === false) return "Offline";
  if (thing.kind !== "thermostat") return stateWords(thing);
  return [climateWords(thing), modeWords(thing), isFanRunning(thing) ? "fan runs" : "fan off"].join(" · ");
}
