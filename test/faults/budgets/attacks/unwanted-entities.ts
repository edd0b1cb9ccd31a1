import assert from "node:assert/strict";
import type { Attack } from "../attack.ts";
import { linkHome } from "../home-assistant-doses.ts";
import { type HostileSession, honest, hostileHomeAssistant, lightId } from "../hostile-home-assistant.ts";
import { linkState, shownState } from "../link-status.ts";
import { Tallied } from "../tally.ts";

/** Attributes that grow made each event more costly than the one before: 15 seconds of them held a service for 300. */
const floodMs = { attributes: 4_000, entities: 15_000 };
/** Small ones: what is kept of each is many times what it takes on the wire. */
const entitiesOfEvent = 1_000;
const attributesOfEvent = 1_000;
const keptAtMost = 50_000_000;

/** Entities that nobody subscribed to, new ones in every event, and attributes of a subscribed one that grow for ever. */
export const unwantedEntities: Attack = {
  name: "entities that nobody subscribed to",
  prepare: linkHome,
  async run(target, note) {
    const got = new Tallied();
    const instance = await hostileHomeAssistant();
    instance.play(honest);
    // The last session stays open: what it keeps is counted.
    const floods = [
      ["attributes of one entity", newAttributes, floodMs.attributes],
      ["entities without a subscription", unknownEntities, floodMs.entities],
    ] as const;
    for (const [message, eventOf, forMs] of floods) {
      const following = instance.nextFollower(10_000);
      instance.hangUp();
      const session = await following;
      if (!session) continue;
      const { events, bytes } = await flood(session, eventOf, forMs);
      got.add(message, events);
      const wasRead = await session.hasRead(10_000);
      const state = shownState(await linkState(target, "home"));
      const size = `${(bytes / 1_000_000).toFixed(0)} MB in ${forMs / 1_000} s`;
      const fate = `${session.hasEnded ? "connection ended" : wasRead ? "read" : "not read"} (${state})`;
      note({ message, size, isTaken: wasRead, fate });
    }
    return got.tally;
  },
  judge({ heapKept }) {
    const kept = Math.round(heapKept / 1_000_000);
    assert.ok(heapKept < keptAtMost, `${kept} MB of what nobody subscribed to are kept`);
  },
};

/** Sends as much as the service reads. */
async function flood(session: HostileSession, eventOf: (round: number) => object, forMs: number) {
  const untilMs = performance.now() + forMs;
  let [events, bytes] = [0, 0];
  while (!session.hasEnded && performance.now() < untilMs) {
    const event = eventOf(events);
    await session.event(event);
    events += 1;
    bytes += JSON.stringify(event).length;
  }
  return { events, bytes };
}

function unknownEntities(round: number): object {
  const ids = Array.from({ length: entitiesOfEvent }, (_, i) => `a.${(round * entitiesOfEvent + i).toString(36)}`);
  return { a: Object.fromEntries(ids.map((id) => [id, { s: "on" }])) };
}

function newAttributes(round: number): object {
  const names = Array.from({ length: attributesOfEvent }, (_, i) => (round * attributesOfEvent + i).toString(36));
  return { c: { [lightId(0)]: { "+": { a: Object.fromEntries(names.map((name) => [name, [name]])) } } } };
}
