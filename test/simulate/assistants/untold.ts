import type { AlexaBody } from "../../../src/assistants/alexa/gateway.ts";
import { reportMessages } from "../../../src/assistants/alexa/reports.ts";
import type { DueReport } from "../../../src/assistants/assistant.ts";
import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import { googleMessages } from "../../../src/assistants/google-home/reports.ts";
import { storedTraits } from "../../../src/home/stored-thing.ts";
import { decodeDescriptor, decodeState } from "../../../src/home/thing-text.ts";
import type { ThingRow } from "../../../src/store/tables/things.ts";
import type { Arrived, OutletId } from "./makers.ts";

/**
 * The first value of a user's things that a maker was not told, or told otherwise; undefined when it knows all of them.
 * What a thing looks like for a maker is what the product makes of the stored row: this compares what was told last.
 */
export function untold(
  outletId: OutletId,
  userId: number,
  rows: readonly ThingRow[],
  arrived: readonly Arrived[],
): string | undefined {
  const told = new Map<string, string>();
  for (const message of arrived) {
    if (!message.isTaken || message.outletId !== outletId || message.userId !== userId) continue;
    for (const [name, value] of valuesIn(message.body)) told.set(name, value);
  }
  for (const body of reportOf(outletId, userId, rows)) {
    for (const [name, value] of valuesIn(body)) {
      if (told.get(name) !== value)
        return `${outletId} of user ${userId}: ${name} is ${value}, told was ${told.get(name)}`;
    }
  }
  return undefined;
}

function reportOf(outletId: OutletId, userId: number, rows: readonly ThingRow[]): readonly object[] {
  const things = rows
    .filter(({ goneMs }) => goneMs === null)
    .map((row) => ({
      ...{ thingId: row.thingId, current: currentOf(row), sinceMs: 0, rises: [] },
      ...{ wantsState: true, wantsSync: false, isUrgent: false },
    }));
  const due: DueReport = { agentUserId: String(userId), things, replies: [], failed: null };
  if (outletId === "google") return googleMessages(due, () => "").map(({ body }) => body);
  const messages = reportMessages(due, { alarms: "contact", nowMs: 0, newMessageId: () => "" });
  return messages.flatMap(({ body }) => (body as AlexaBody).events);
}

function currentOf(row: ThingRow): CurrentThing {
  const { userId, thingId, deviceId, source, goneMs } = row;
  const read = { ...decodeDescriptor(row), userId, thingId, deviceId, source, goneMs, state: decodeState(row.state) };
  return { ...read, traits: storedTraits(read, read.state), isGoogles: false, isStale: false };
}

/** The values that a message tells, as text. */
function valuesIn(body: object): readonly (readonly [name: string, value: string])[] {
  // biome-ignore lint/suspicious/noExplicitAny: messages of two makers, read member by member
  const { event, context, payload } = body as any;
  if (!event) {
    const states = Object.entries(payload?.devices.states ?? {});
    return states.map(([id, state]) => [id, JSON.stringify(state)]);
  }
  const properties = [...(context?.properties ?? []), ...(event.payload.change?.properties ?? [])];
  const id = event.endpoint?.endpointId;
  return properties.map((one) => [`${id} ${one.namespace} ${one.instance} ${one.name}`, JSON.stringify(one.value)]);
}
