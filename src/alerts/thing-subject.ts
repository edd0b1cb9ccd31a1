import { type LoggedThing, loggedThings } from "../devices/log-entries.ts";
import { fieldText, goneValues, readFieldName } from "../home/field-names.ts";
import type { FieldValue, ThingState } from "../home/stored-thing.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { BadParameter, UnknownThing } from "../model/errors.ts";
import type { ThingTriggerRow } from "../store/tables/thing-triggers.ts";
import type { ThingRow } from "../store/tables/things.ts";
import type { AlertSubject, AlertTables } from "./alert-calls.ts";
import { checkThingDefinition, type ThingTriggerInput } from "./definition.ts";

/** A field of a thing. */
export const thingSubject: AlertSubject<ThingTriggerInput, ThingTriggerRow, ThingRow> = {
  table: (tx) => tx.thingTriggers,
  find: (tx, accessScope, { thingId }) => thingWithin(tx, accessScope, thingId),
  check: checkThingDefinition,
  refuseMove(before, { thingId }) {
    if (thingId === before.thingId) return;
    throw new BadParameter("thingId", "An alert stays with its thing. Make another one instead.");
  },
  isSameSubject: (before, after) => before.field === after.field,
  async value(tx, { userId, thingId, field }) {
    const [thing] = await tx.things.some(userId, [thingId]);
    return thing ? fieldText(presentValue(thing, field)) : null;
  },
  pastKinds: "attributes and things",
  pastValue(commit, { thingId, field }) {
    // Most commits are about other things: their bodies need not be parsed.
    if (!commit.body.includes(JSON.stringify(thingId))) return undefined;
    const thing = loggedThings(commit).find((one) => one.thingId === thingId);
    const value = thing && toldValues(thing).get(field);
    return value === undefined ? undefined : { value: fieldText(value) };
  },
};

/** What a change of a thing says of its fields: the changed ones, or all of them when the thing is gone. */
export function toldValues({ what, fields = {} }: Omit<LoggedThing, "thingId">): ReadonlyMap<string, FieldValue> {
  return what === "gone" ? goneValues : new Map(Object.entries(fields));
}

function presentValue({ state, goneMs }: ThingRow, name: string): FieldValue {
  if (goneMs !== null) return goneValues.get(name) ?? null;
  const named = readFieldName(name);
  const stored = named && (JSON.parse(state) as ThingState)[named.trait]?.[named.field];
  return stored?.[0] ?? null;
}

export async function thingWithin(
  tx: Pick<AlertTables, "things">,
  accessScope: AccessScope,
  thingId: string,
): Promise<ThingRow> {
  const thing = await tx.things.within(accessScope, thingId);
  if (!thing) throw new UnknownThing();
  return thing;
}
