import type { ReadThing } from "../devices/read-thing.ts";
import type { TraitName } from "../home/catalogue.ts";
import type { FieldValue } from "../home/stored-thing.ts";
import { decodeDescriptor, decodeState } from "../home/thing-text.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { UnknownThing } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import { virtualDeviceType } from "../model/virtual-device-type.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { ThingPlace as LinkedPlace, ShownThingRow } from "../store/tables/things.ts";
import { type OwnPlace, ownPage } from "./own-thing-pages.ts";
import { type OwnThings, type OwnThingTables, ownSource } from "./own-things.ts";

/** The position after which a page begins: first the things of linked accounts, then those of own devices. */
export interface ThingPlace extends LinkedPlace {
  /** The position among the things of own devices; undefined before the first of them. */
  readonly own?: OwnPlace | undefined;
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
  /** With `most`, a page has at most so many things. */
  page(accessScope: AccessScope, place: ThingPlace, most?: number): Promise<ThingPage>;
  /** A gone thing is found as long as its row is kept. */
  find(accessScope: AccessScope, thingId: string): Promise<ReadThing>;
  /** Those of these things that the user has, with a fixed number of statements; gone ones are among them. */
  some(userId: UserId, thingIds: readonly string[]): Promise<readonly ReadThing[]>;
}

export const thingsPerPage = 100;

/** Bounds the work for a page, because a filter may match no thing of a large tenant. A page can be short or empty. */
const linksPerPage = 100;

export function thingReading(
  store: Store<Pick<Transaction, "users" | "devices" | "things"> & OwnThingTables>,
  ownThings: OwnThings,
): ThingReading {
  const linkedPage = async (accessScope: AccessScope, place: LinkedPlace, most: number): Promise<ThingPage> => {
    const from = { afterId: place.afterDevice - 1, typeName: virtualDeviceType };
    const { devices, found } = await store.read(async (tx) => {
      const devices = await tx.devices.page(accessScope, from, linksPerPage);
      // One extra row shows whether more follow.
      return { devices, found: await tx.things.ofDevices(devices, place, most + 1) };
    });
    const rows = found.slice(0, most);
    return { things: rows.map(readThing), next: nextPlace(place, devices, rows, found.length > rows.length) };
  };
  return {
    async page(accessScope, place, most = thingsPerPage) {
      const includesOwn = place.source === undefined || place.source === ownSource;
      const linked =
        place.own || place.source === ownSource
          ? { things: [], next: undefined }
          : await linkedPage(accessScope, place, most);
      const left = most - linked.things.length;
      if (linked.next || !includesOwn || left === 0) {
        return { ...linked, next: linked.next ?? (includesOwn ? { ...place, own: {} } : undefined) };
      }
      const own = await store.read((tx) => ownPage(tx, ownThings, accessScope, place, left));
      return { things: [...linked.things, ...own.things], next: own.next && { ...place, own: own.next } };
    },
    async find(accessScope, thingId) {
      const own = ownThings.ids.deviceOf(thingId) !== undefined;
      const thing = await store.read(async (tx) => {
        if (own) return ownThings.find(tx, accessScope, thingId);
        const row = await tx.things.within(accessScope, thingId);
        return row && readThing(row);
      });
      if (!thing) throw new UnknownThing();
      return thing;
    },
    async some(userId, thingIds) {
      const wellFormed = thingIds.filter((thingId) => /^t_[\w-]{22}$/.test(thingId));
      const deviceIds = wellFormed.flatMap((thingId) => ownThings.ids.deviceOf(thingId) ?? []);
      const linked = wellFormed.filter((thingId) => ownThings.ids.deviceOf(thingId) === undefined);
      return store.read(async (tx) => [
        ...(linked.length > 0 ? (await tx.things.some(userId, linked)).map(readThing) : []),
        ...(deviceIds.length > 0 ? await ownThings.derive(tx, await tx.mappedDevices.some(userId, deviceIds)) : []),
      ]);
    },
  };
}

function nextPlace(
  place: LinkedPlace,
  devices: readonly DeviceRow[],
  rows: readonly ShownThingRow[],
  hasMore: boolean,
): LinkedPlace | undefined {
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

function readThing(row: ShownThingRow): ReadThing {
  const { userId, thingId, deviceId, source, goneMs, state } = row;
  return { ...decodeDescriptor(row), userId, thingId, deviceId, source, goneMs, state: decodeState(state) };
}
