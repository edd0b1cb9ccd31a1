import type { ReadThing } from "../devices/read-thing.ts";
import type { TraitName } from "../home/catalogue.ts";
import { soundingAlarm } from "../home/sounding.ts";
import type { FieldValue } from "../home/stored-thing.ts";
import { decodeDescriptor, decodeState } from "../home/thing-text.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { UnknownThing } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import { virtualDeviceType } from "../model/virtual-device-type.ts";
import type { Store, Transaction } from "../store/seam.ts";
import {
  type ThingPlace as LinkedPlace,
  type ShownThingRow,
  type SoundingFilter,
  soundingPerUser,
} from "../store/tables/things.ts";
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

export interface SoundingThings {
  readonly things: readonly ReadThing[];
  readonly isComplete: boolean;
}

/** Reads within the caller's access scope. A thing outside it looks as if it did not exist. */
export interface ThingReading {
  /** With `most`, a page has at most so many things. */
  page(accessScope: AccessScope, place: ThingPlace, most?: number): Promise<ThingPage>;
  /** A gone thing is found as long as its row is kept. */
  find(accessScope: AccessScope, thingId: string): Promise<ReadThing>;
  /** Those of these things that the user has, with a fixed number of statements; gone ones are among them. */
  some(userId: UserId, thingIds: readonly string[]): Promise<readonly ReadThing[]>;
  /**
   * Things that show a smoke or CO warning or alarm, at most `limit`, and of one user at most 20: one home hides no other.
   * `isComplete` is false when more may sound.
   */
  sounding(filter: SoundingFilter, limit: number): Promise<SoundingThings>;
}

export const thingsPerPage = 100;

/**
 * The links whose things are read for a page: the things of few links fill most pages, and then no more are read. The sum
 * bounds the work, because a filter may match no thing of a large tenant. A page can be short or empty.
 */
const linksAtOnce = [20, 80];

export function thingReading(
  store: Store<Pick<Transaction, "users" | "devices" | "things"> & OwnThingTables>,
  ownThings: OwnThings,
): ThingReading {
  const linkedPage = (accessScope: AccessScope, place: LinkedPlace, most: number): Promise<ThingPage> =>
    store.read(async (tx) => {
      const found: ShownThingRow[] = [];
      let afterId = place.afterDevice - 1;
      for (const links of linksAtOnce) {
        const devices = await tx.devices.page(accessScope, { afterId, typeName: virtualDeviceType }, links);
        // One extra row shows whether more follow.
        found.push(...(await tx.things.ofDevices(devices, place, most + 1 - found.length)));
        if (found.length > most) {
          const things = found.slice(0, most).map(readThing);
          const { deviceId, thingId } = found[most - 1]!;
          return { things, next: { ...place, afterDevice: deviceId, afterThing: thingId } };
        }
        if (devices.length < links) return { things: found.map(readThing), next: undefined };
        afterId = devices.at(-1)!.id;
      }
      return { things: found.map(readThing), next: { ...place, afterDevice: afterId + 1, afterThing: "" } };
    });
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
    async sounding(filter, limit) {
      const { linked, own } = await store.read(async (tx) => {
        const devices = await tx.mappedDevices.sounding(filter, limit + 1);
        return {
          linked: (await tx.things.findSounding(filter, limit + 1)).map(readThing),
          own: devices.length === 0 ? [] : await ownThings.derive(tx, devices),
        };
      });
      const isWhole = (some: readonly ReadThing[]) =>
        [...Map.groupBy(some, ({ userId }) => userId).values()].every(({ length }) => length < soundingPerUser);
      const sounding = [...linked, ...own].filter(({ state }) => soundingAlarm(state) !== undefined);
      return {
        things: sounding.slice(0, limit),
        isComplete: Math.max(linked.length, own.length, sounding.length) <= limit && isWhole(linked) && isWhole(own),
      };
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

function readThing(row: ShownThingRow): ReadThing {
  const { userId, thingId, deviceId, source, goneMs, state } = row;
  return { ...decodeDescriptor(row), userId, thingId, deviceId, source, goneMs, state: decodeState(state) };
}
