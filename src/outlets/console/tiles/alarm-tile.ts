import { type Html, html } from "../../../web/html.ts";
import { lastKnown } from "./as-of.ts";
import { type Icon, iconOf } from "./icons.ts";
import type { ShownThing } from "./shown-thing.ts";

interface AlarmLook {
  readonly word: string;
  readonly icon: Icon;
  readonly look: "red" | "yellow" | "green" | "gray";
}

const unknown: AlarmLook = { word: "Unknown", icon: "offline", look: "gray" };

/**
 * The state of an alarm as a word, an icon and a colour. A last known warning or emergency counts also when the alarm
 * does not answer or is broken; everything else counts only while both of its sensors answer and work.
 */
export function alarmLook({ traits: { smoke, carbonMonoxide } }: ShownThing): AlarmLook {
  const sensors = [
    { name: "Smoke", state: smoke?.state },
    { name: "CO", state: carbonMonoxide?.state },
  ];
  const sounding = (value: string) =>
    sensors
      .filter(({ state }) => state?.state?.value === value)
      .map(({ name }) => name)
      .join(" and ");
  if (sounding("alarm")) return { word: `${sounding("alarm")} emergency`, icon: "flame", look: "red" };
  if (sounding("warning")) return { word: `${sounding("warning")} warning`, icon: "warning", look: "yellow" };
  const broken = sensors.filter(({ state }) => state?.fault?.value === true).map(({ name }) => name);
  if (broken.length > 0) return { word: `Broken: ${broken.join(" and ")}`, icon: "warning", look: "gray" };
  if (sensors.every(({ state }) => state?.available?.value === false)) return { ...unknown, word: "Offline" };
  const words = sensors.map(({ name, state }) => {
    const word = state?.available?.value === true ? state.state?.value : undefined;
    return { name, word: word ?? "unknown" };
  });
  if (words.every(({ word }) => word === "clear")) return { word: "All clear", icon: "shield", look: "green" };
  return { word: words.map(({ name, word }) => `${name} ${word}`).join(", "), icon: "warning", look: "gray" };
}

/** While the current state is unknown, a last known warning or emergency stays visible; "All clear" becomes "Unknown". */
export function alarmTile(thing: ShownThing, asOfMs: number | undefined): Html {
  const { thingId, name, traits } = thing;
  const lastSeen = alarmLook(thing);
  const isAlarming = lastSeen.look === "red" || lastSeen.look === "yellow";
  const { word, icon, look } = asOfMs === undefined || isAlarming ? lastSeen : unknown;
  const was = isAlarming ? "Seen" : lastSeen.look === "green" ? "No alarm" : lastSeen.word;
  // The time at which a sensor stopped answering. A broken one answers, and says so.
  const lost = [traits.smoke, traits.carbonMonoxide].find((trait) => {
    return trait?.state.available?.value === false && trait.state.fault?.value !== true;
  });
  const lostMs = isAlarming ? lost?.state.available?.updateTime : undefined;
  return html`<article class="tile alarm ${look}" data-part id="${thingId}" aria-labelledby="${thingId}-name">
<header><span class="ring">${iconOf(icon)}</span><div><h3 id="${thingId}-name">${name ?? "Alarm"}</h3><p class="kind">Smoke and CO alarm${conditionWords(thing)}${batteryWords(thing, asOfMs)}</p></div></header>
<p class="says">${word}</p>
${lostMs === undefined ? undefined : lastKnown("The alarm stopped answering", lostMs)}
${asOfMs === undefined ? undefined : lastKnown(was, asOfMs)}
</article>`;
}

/** What the alarm has said of itself. It stays visible while the current state is unknown. */
function conditionWords({ traits: { smoke, carbonMonoxide } }: ShownThing): string {
  const isTrue = (field: string) => [smoke, carbonMonoxide].some((trait) => trait?.state[field]?.value === true);
  const said = Object.entries(conditions).flatMap(([field, words]) => (isTrue(field) ? [` · ${words}`] : []));
  return said.join("");
}

const conditions: Readonly<Record<string, string>> = {
  fault: "says that it is broken",
  endOfLife: "must be replaced",
  testing: "is being tested",
  muted: "is muted",
};

/** A low battery is shown also when it may have been replaced since; a good one only while that is known. */
function batteryWords({ traits: { battery } }: ShownThing, asOfMs: number | undefined): string {
  const { state, percent, available } = battery?.state ?? {};
  const isKnown = asOfMs === undefined && available?.value === true;
  const words = [state?.value, typeof percent?.value === "number" ? `${percent.value} %` : null];
  const known = words.filter((word) => typeof word === "string");
  return known.length > 0 && (isKnown || state?.value === "low") ? ` · battery ${known.join(", ")}` : "";
}
