import assert from "node:assert/strict";
import type { Attack } from "../attack.ts";
import { linkHome } from "../home-assistant-doses.ts";
import { type HostileSession, honest, hostileHomeAssistant, lightId } from "../hostile-home-assistant.ts";
import { linkState, shownState } from "../link-status.ts";
import type { Note } from "../sightings.ts";
import { Tallied } from "../tally.ts";

const eachMs = 12_000;
const entitiesOfEvent = 300;
const attributeBytes = 60_000;
const rssGrowthAtMost = 200_000_000;

/** Entities that nobody subscribed to, new ones in every event, and attributes of a subscribed one that grow for ever. */
export const unwantedEntities: Attack = {
  name: "entities that nobody subscribed to",
  prepare: linkHome,
  async run(target, note) {
    const got = new Tallied();
    const instance = await hostileHomeAssistant();
    instance.play(honest);
    const floods = [
      ["entities without a subscription", unknownEntities],
      ["attributes of one entity", newAttributes],
      ["removed entities", removedEntities],
    ] as const;
    for (const [message, eventOf] of floods) {
      const following = instance.nextFollower(10_000);
      instance.hangUp();
      const session = await following;
      if (session) got.add(message, await flood(session, eventOf, (fate) => noteFate(note, message, fate)));
    }
    return got.tally;

    async function noteFate(noted: Note, message: string, { bytes, session }: FloodFate) {
      const wasRead = await session.hasRead(10_000);
      const state = shownState(await linkState(target, "home"));
      const size = `${(bytes / 1_000_000).toFixed(0)} MB in ${eachMs / 1_000} s`;
      const fate = `${session.hasEnded ? "connection ended" : wasRead ? "read" : "not read"} (${state})`;
      noted({ message, size, isTaken: wasRead, fate });
    }
  },
  judge({ rssGrown }) {
    assert.ok(rssGrown < rssGrowthAtMost, `the memory has grown by ${Math.round(rssGrown / 1_000_000)} MB`);
  },
};

interface FloodFate {
  readonly bytes: number;
  readonly session: HostileSession;
}

/** Sends as much as the service reads. Returns the number of events. */
async function flood(
  session: HostileSession,
  eventOf: (round: number) => object,
  told: (fate: FloodFate) => Promise<void>,
): Promise<number> {
  const untilMs = performance.now() + eachMs;
  let [events, bytes] = [0, 0];
  while (!session.hasEnded && performance.now() < untilMs) {
    const event = eventOf(events);
    await session.event(event);
    events += 1;
    bytes += JSON.stringify(event).length;
  }
  await told({ bytes, session });
  return events;
}

function unknownEntities(round: number): object {
  const ids = Array.from({ length: entitiesOfEvent }, (_, i) => `sensor.unknown_${round}_${i}`);
  return { a: Object.fromEntries(ids.map((id) => [id, { s: "on", a: { text: `${id} ${"x".repeat(60)}` } }])) };
}

function newAttributes(round: number): object {
  return { c: { [lightId(0)]: { "+": { a: { [`attribute_${round}`]: `${round} ${"x".repeat(attributeBytes)}` } } } } };
}

function removedEntities(round: number): object {
  return { r: Array.from({ length: 2_000 }, (_, i) => `light.never_${round}_${i}`) };
}
