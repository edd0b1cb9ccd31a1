import type { TraitName } from "../home/catalogue.ts";
import type { FieldValue, ThingDescriptor, ThingState } from "../home/stored-thing.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { UnknownThing } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { ThingPlace, ThingRow } from "../store/tables/things.ts";

export type { ThingPlace } from "../store/tables/things.ts";

/** A stored thing, as callers may read it. */
export interface ReadThing extends ThingDescriptor {
  readonly userId: UserId;
  readonly thingId: string;
  readonly deviceId: DeviceId;
  readonly source: string;
  readonly goneMs: number | null;
  readonly state: ThingState;
}

export interface ReadField {
  readonly value: FieldValue;
  readonly updateTimeMs: number;
}

export interface ThingPage {
  readonly things: readonly ReadThing[];
  /** The position of the next page; undefined on the last page. */
  readonly next: ThingPlace | undefined;
}

/** Reads within the caller's access scope. A thing outside it looks as if it did not exist. */
export interface ThingReading {
  page(accessScope: AccessScope, place: ThingPlace): Promise<ThingPage>;
  /** A gone thing is found as long as its row is kept. */
  find(accessScope: AccessScope, thingId: string): Promise<ReadThing>;
}

export const thingsPerPage = 100;

export function thingReading(store: Store<Pick<Transaction, "things">>): ThingReading {
  return {
    async page(accessScope, place) {
      // One extra row shows whether another page follows.
      const found = await store.read((tx) => tx.things.page(accessScope, place, thingsPerPage + 1));
      const rows = found.slice(0, thingsPerPage);
      const last = rows.at(-1);
      const hasMore = found.length > rows.length && last !== undefined;
      const next = hasMore ? { ...place, afterUser: last.userId, afterThing: last.thingId } : undefined;
      return { things: rows.map(readThing), next };
    },
    async find(accessScope, thingId) {
      const row = await store.read((tx) => tx.things.within(accessScope, thingId));
      if (!row) throw new UnknownThing();
      return readThing(row);
    },
  };
}

/** The fields of one trait that changed strictly after a time, by name; `available` is among them. */
export function fieldsSince(
  { state }: ReadThing,
  trait: TraitName,
  sinceMs = Number.NEGATIVE_INFINITY,
): ReadonlyMap<string, ReadField> {
  const fields = Object.entries(state[trait] ?? {}).filter(([, [, timeMs]]) => timeMs > sinceMs);
  return new Map(fields.map(([field, [value, updateTimeMs]]) => [field, { value, updateTimeMs }]));
}

function readThing({ userId, thingId, deviceId, source, goneMs, descriptor, state }: ThingRow): ReadThing {
  const described = JSON.parse(descriptor) as ThingDescriptor;
  return { ...described, userId, thingId, deviceId, source, goneMs, state: JSON.parse(state) as ThingState };
}
