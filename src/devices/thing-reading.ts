import type { TraitName } from "../home/catalogue.ts";
import type { FieldValue, ThingDescriptor, ThingState } from "../home/stored-thing.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { virtualDeviceType } from "../model/device-types.ts";
import { UnknownThing } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
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

/** Bounds the work for a page: a filter may match no thing of a large tenant. A page can be short, or empty, therefore. */
const linksPerPage = 100;

export function thingReading(store: Store<Pick<Transaction, "devices" | "things">>): ThingReading {
  return {
    async page(accessScope, place) {
      const from = { afterId: place.afterDevice - 1, typeName: virtualDeviceType };
      const { devices, found } = await store.read(async (tx) => {
        const devices = await tx.devices.page(accessScope, from, linksPerPage);
        // One extra row shows whether more follow.
        return { devices, found: await tx.things.ofDevices(devices, place, thingsPerPage + 1) };
      });
      const rows = found.slice(0, thingsPerPage);
      return { things: rows.map(readThing), next: nextPlace(place, devices, rows, found.length > rows.length) };
    },
    async find(accessScope, thingId) {
      const row = await store.read((tx) => tx.things.within(accessScope, thingId));
      if (!row) throw new UnknownThing();
      return readThing(row);
    },
  };
}

function nextPlace(
  place: ThingPlace,
  devices: readonly DeviceRow[],
  rows: readonly ThingRow[],
  hasMore: boolean,
): ThingPlace | undefined {
  const [lastRow, lastDevice] = [rows.at(-1), devices.at(-1)];
  if (hasMore && lastRow) return { ...place, afterDevice: lastRow.deviceId, afterThing: lastRow.thingId };
  if (devices.length < linksPerPage || !lastDevice) return undefined;
  return { ...place, afterDevice: lastDevice.id + 1, afterThing: "" };
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
