import { type LoggedThing, loggedThings } from "../devices/log-entries.ts";
import type { ReadThing } from "../devices/read-thing.ts";
import { fieldText, goneValues, readFieldName } from "../home/field-names.ts";
import type { FieldValue } from "../home/stored-thing.ts";
import { decodeState } from "../home/thing-text.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { BadParameter, UnknownThing } from "../model/errors.ts";
import type { OwnThings } from "../own-things/own-things.ts";
import type { ThingTriggerRow } from "../store/tables/thing-triggers.ts";
import type { AlertSubject } from "./alert-calls.ts";
import type { AlertTables } from "./alert-tables.ts";
import { checkThingDefinition, type ThingTriggerInput } from "./definition.ts";

/** A thing, as far as alerts on it need it. */
export type WatchedThing = Pick<ReadThing, "userId" | "deviceId" | "state" | "goneMs">;

/** A field of a thing. */
export const thingSubject = (
  ownThings: OwnThings | undefined,
): AlertSubject<ThingTriggerInput, ThingTriggerRow, WatchedThing> => ({
  table: (tx) => tx.thingTriggers,
  find: (tx, accessScope, { thingId }) => thingWithin(tx, ownThings, accessScope, thingId),
  check: checkThingDefinition,
  refuseMove(before, { thingId }) {
    if (thingId === before.thingId) return;
    throw new BadParameter("thingId", "An alert stays with its thing. Make another one instead.");
  },
  isSameSubject: (before, after) => before.field === after.field,
  async value(tx, { userId, thingId, field }) {
    const thing = await foundThing(tx, ownThings, { kind: "user", userId }, thingId);
    return thing ? fieldText(presentValue(thing, field)) : null;
  },
  pastKinds: "attributes and things",
  pastValue(commit, { thingId, field }) {
    // Most commits are about other things: their bodies need not be parsed.
    if (!commit.body.includes(JSON.stringify(thingId))) return undefined;
    const thing = loggedThings(commit).find((one) => one.thingId === thingId);
    const value = thing && loggedValues(thing).get(field);
    return value === undefined ? undefined : { value: fieldText(value) };
  },
});

/** What a change of a thing says of its fields: the changed ones, or all of them when the thing is gone. */
export function loggedValues({ what, fields = {} }: Omit<LoggedThing, "thingId">): ReadonlyMap<string, FieldValue> {
  return what === "gone" ? goneValues : new Map(Object.entries(fields));
}

function presentValue({ state, goneMs }: WatchedThing, name: string): FieldValue {
  if (goneMs !== null) return goneValues.get(name) ?? null;
  const named = readFieldName(name);
  const stored = named && state[named.trait]?.[named.field];
  return stored?.[0] ?? null;
}

export async function thingWithin(
  tx: AlertTables,
  ownThings: OwnThings | undefined,
  accessScope: AccessScope,
  thingId: string,
): Promise<WatchedThing> {
  const thing = await foundThing(tx, ownThings, accessScope, thingId);
  if (!thing) throw new UnknownThing();
  return thing;
}

async function foundThing(
  tx: AlertTables,
  ownThings: OwnThings | undefined,
  accessScope: AccessScope,
  thingId: string,
): Promise<WatchedThing | undefined> {
  const own = await ownThings?.find(tx, accessScope, thingId);
  if (own) return own;
  const row = await tx.things.within(accessScope, thingId);
  return row && { ...row, state: decodeState(row.state) };
}
