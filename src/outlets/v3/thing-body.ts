import type { ReadThing } from "../../devices/read-thing.ts";
import type { Freshness } from "../../federation/freshness.ts";
import { type TraitName, traitNames } from "../../home/catalogue.ts";
import type { Principal } from "../../identity/principal.ts";
import { fieldsSince } from "../../own-things/thing-reading.ts";
import { ownerFor } from "./device-body.ts";

/** The link of the thing has just ended: nothing confirms the thing. */
const unconfirmed: Freshness = { isPresent: false, isStale: true, confirmedTimeMs: null };

/** The JSON of a thing; with `sinceMs`, only the fields that changed after that time. */
export function thingBody(
  thing: ReadThing,
  { isStale, confirmedTimeMs }: Freshness = unconfirmed,
  caller: Principal,
  sinceMs?: number,
): object {
  const { thingId, deviceId, kind, name, room, homeName, maker, model, source, goneMs } = thing;
  return {
    thingId,
    ...ownerFor(caller, thing),
    deviceId,
    kind,
    name,
    room,
    homeName,
    maker,
    model,
    source,
    stale: isStale || goneMs !== null,
    ...(confirmedTimeMs !== null && { confirmedTime: confirmedTimeMs }),
    ...(goneMs !== null && { goneTime: goneMs }),
    traits: Object.fromEntries(traitNames.flatMap((trait) => shownTrait(thing, trait, sinceMs))),
  };
}

function shownTrait(thing: ReadThing, trait: TraitName, sinceMs?: number): (readonly [TraitName, object])[] {
  const fields = fieldsSince(thing, trait, sinceMs);
  if (fields.size === 0) return [];
  const shown = [...fields].map(([field, { value, updateTimeMs }]) => [field, { value, updateTime: updateTimeMs }]);
  return [[trait, { capabilities: thing.capabilities[trait] ?? {}, state: Object.fromEntries(shown) }]];
}
