import type { AlexaBody } from "../../../src/assistants/alexa/gateway.ts";
import { reportMessages } from "../../../src/assistants/alexa/reports.ts";
import type { DueReport } from "../../../src/assistants/assistant.ts";
import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import { googleMessages } from "../../../src/assistants/google-home/reports.ts";
import { storedTraits } from "../../../src/home/stored-thing.ts";
import { decodeDescriptor, decodeState } from "../../../src/home/thing-text.ts";
import type { ThingRow } from "../../../src/store/tables/things.ts";
import type { Arrived, OutletId } from "./makers.ts";

/** An account at a maker. */
export interface MakersAccount {
  readonly outletId: OutletId;
  readonly userId: number;
  /** How many transactions were committed when it was linked. */
  readonly linkedSeq: number;
}

/** The things of the user's link, gone ones included, and whether the link is stale. */
export interface LinkedThings {
  readonly rows: readonly ThingRow[];
  readonly isStale: boolean;
}

export interface Untold {
  /** The first value that the maker was not told, or told otherwise; undefined when it knows all of them. */
  readonly missing: string | undefined;
  /** Why things are unreachable that the maker knows as such. */
  readonly unreachable: ReadonlySet<"stale link" | "gone thing">;
}

/**
 * Compares what a maker was told last of a user's things with the present. What a thing looks like for a maker is what the
 * product makes of the stored row; only that gone things and those of a stale link are unreachable is demanded here. Of a
 * gone thing a maker has to hear only when it knows the thing.
 */
export function untold(account: MakersAccount, things: LinkedThings, arrived: readonly Arrived[]): Untold {
  const { outletId, userId } = account;
  const told = toldTo(account, arrived);
  const unreachable = new Set<"stale link" | "gone thing">();
  const gone = new Set(things.rows.filter(({ goneMs }) => goneMs !== null).map(({ thingId }) => thingId));
  for (const { thingId, name, value } of presentValues(account, things)) {
    const known = told.get(name);
    const isGone = gone.has(thingId);
    if (isGone && (known === undefined || known.sentSeq < account.linkedSeq)) continue;
    const missing = `${outletId} of user ${userId}: ${name} is ${value}, told was ${known?.value}`;
    if (known?.value !== value) return { missing, unreachable };
    if (!isGone && !things.isStale) continue;
    if (isReachable(value)) return { missing: `${missing}, and it is not reachable`, unreachable };
    unreachable.add(isGone ? "gone thing" : "stale link");
  }
  return { missing: undefined, unreachable };
}

/** Whether a value tells that its thing can be reached. */
function isReachable(value: string): boolean {
  return value === `{"value":"OK"}` || value.includes(`"online":true`);
}

/** The values that a maker was told last, by their names. */
function toldTo({ outletId, userId }: MakersAccount, arrived: readonly Arrived[]) {
  const told = new Map<string, { readonly value: string; readonly sentSeq: number }>();
  for (const { isTaken, body, sentSeq, ...message } of arrived) {
    if (!isTaken || message.outletId !== outletId || message.userId !== userId) continue;
    for (const [name, value] of valuesIn(body)) told.set(name, { value, sentSeq });
    for (const name of told.keys()) if (deletedIn(body).includes(name.split(" ")[0]!)) told.delete(name);
  }
  return told;
}

function presentValues({ outletId, userId }: MakersAccount, { rows, isStale }: LinkedThings) {
  return rows.flatMap((row) => {
    const { thingId } = row;
    const thing = {
      ...{ thingId, current: currentOf(row, isStale), sinceMs: 0, rises: [] },
      ...{ wantsState: true, wantsSync: false, isUrgent: false },
    };
    const due: DueReport = { agentUserId: String(userId), things: [thing], replies: [], failed: null };
    return bodiesOf(outletId, due).flatMap((body) => valuesIn(body).map(([name, value]) => ({ thingId, name, value })));
  });
}

function bodiesOf(outletId: OutletId, due: DueReport): readonly object[] {
  if (outletId === "google") return googleMessages(due, () => "").map(({ body }) => body);
  const messages = reportMessages(due, { alarms: "contact", nowMs: 0, newMessageId: () => "" });
  return messages.flatMap(({ body }) => (body as AlexaBody).events);
}

function currentOf(row: ThingRow, isStale: boolean): CurrentThing {
  const { userId, thingId, deviceId, source, goneMs } = row;
  const read = { ...decodeDescriptor(row), userId, thingId, deviceId, source, goneMs, state: decodeState(row.state) };
  return { ...read, traits: storedTraits(read, read.state), isGoogles: false, isStale };
}

/** The endpoints that a message has Alexa delete. */
function deletedIn(body: object): readonly string[] {
  const { event } = body as { readonly event?: DeleteReport };
  const endpoints = event?.header.name === "DeleteReport" ? event.payload.endpoints : [];
  return endpoints.map(({ endpointId }) => endpointId);
}

interface DeleteReport {
  readonly header: { readonly name: string };
  readonly payload: { readonly endpoints: readonly { readonly endpointId: string }[] };
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
