import { setTimeout as pause } from "node:timers/promises";
import type { Thing, ThingField } from "../../../sdk/src/index.ts";
import type { Call } from "../command.ts";
import { clockTime } from "../devices/times.ts";
import type { Api } from "../remote/api.ts";
import { reportLive, reportLost } from "../remote/follow.ts";
import { ServiceRefused } from "../remote/service-errors.ts";
import { freshnessOf, isAlarming, shownField, thingView, traitsOf } from "./thing-view.ts";

/** The thing is polled: events do not report that a thing became stale because its node died. */
const pollMs = 2_000;
const answerWithinMs = 2_500;

/** Shows a thing and then its changes, line by line, until the thing is gone. A program gets one JSON object a line. */
export async function watchThing(call: Call, api: Api, first: Thing): Promise<void> {
  const { print } = call;
  let thing = first;
  let answeredMs = Date.now();
  let isLost = false;
  const view = thingView(thing, { style: print.style, width: print.width, nowMs: Date.now() });
  print.line({ type: "thing", ...thing }, `${view}\n\nChanges follow. Ctrl-C ends.`);
  while (thing.goneTime === undefined) {
    await pause(pollMs);
    const { thingId } = thing;
    try {
      const since = latestTime(thing);
      const news = await api.read((sdk) => sdk.thing(thingId, { since }), { withinMs: answerWithinMs });
      answeredMs = Date.now();
      if (isLost) reportLive(print, api.baseUrl);
      isLost = false;
      showChanges(call, thing, news);
      thing = merged(thing, news);
    } catch (error) {
      // Only a refusal ends the command. A service that does not answer may be restarting.
      if (error instanceof ServiceRefused && error.status !== 503) throw error;
      if (!isLost) reportLost(print, answeredMs, error instanceof Error ? error.message : String(error));
      isLost = true;
      await api.renewAccess().catch(() => undefined);
    }
  }
  print.words("The thing is gone.");
}

function showChanges({ print }: Call, before: Thing, news: Thing): void {
  const { thingId } = news;
  for (const [trait, { state }] of traitsOf(news)) {
    for (const [field, fieldState] of Object.entries(state)) {
      const value = isAlarming(field, fieldState)
        ? print.style.red(shownField(fieldState))
        : print.style.yellow(shownField(fieldState));
      const old = fieldOf(before, trait, field);
      const from = old ? `${shownField(old)} → ` : "";
      const words = `${print.style.dim(clockTime(fieldState.updateTime))}  ${trait} › ${field}  ${from}${value}`;
      print.line({ type: "field", thingId, trait, field, ...fieldState }, words);
    }
  }
  if (news.stale === before.stale && news.goneTime === before.goneTime) return;
  const { stale, confirmedTime, goneTime } = news;
  const [freshness = "current again"] = freshnessOf(news);
  const words = `${print.style.dim(clockTime(Date.now()))}  ${freshness}`;
  print.line({ type: "freshness", thingId, stale, confirmedTime, goneTime }, words);
}

function merged(before: Thing, news: Thing): Thing {
  const traits = new Map(traitsOf(before));
  for (const [name, { capabilities, state }] of traitsOf(news)) {
    traits.set(name, { capabilities, state: { ...traits.get(name)?.state, ...state } });
  }
  return { ...news, traits: Object.fromEntries(traits) };
}

function fieldOf(thing: Thing, trait: string, field: string): ThingField | undefined {
  return traitsOf(thing).find(([name]) => name === trait)?.[1].state[field];
}

/** All changes of a thing have later times. */
function latestTime(thing: Thing): number {
  const fields = traitsOf(thing).flatMap(([, { state }]) => Object.values(state));
  return fields.reduce((latest, { updateTime }) => Math.max(latest, updateTime), 0);
}
