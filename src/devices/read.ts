import type { AccessScope } from "../model/access-scope.ts";
import { UnknownDevice } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { DevicePlace, DeviceRow } from "../store/tables/devices.ts";
import type { DeviceState, DeviceStates, ReadBeside } from "./states.ts";

export type { DevicePlace } from "../store/tables/devices.ts";

export interface ReadAttribute {
  readonly key: AttributeKey;
  readonly value: string | null;
  readonly updateTimeMs: number;
}

export interface DevicePage {
  readonly devices: readonly DeviceRow[];
  /** The position of the next page; undefined on the last page. */
  readonly next: DevicePlace | undefined;
}

export const devicesPerPage = 100;

/**
 * Reads within the caller's access scope. For a device outside it the result is the same as for a device that does not
 * exist.
 */
export interface DeviceReading {
  list(userId: UserId): Promise<readonly DeviceRow[]>;
  page(accessScope: AccessScope, place: DevicePlace): Promise<DevicePage>;
  /** `beside`: what else to read with the version of a cached state. */
  state(accessScope: AccessScope, deviceId: DeviceId, beside?: ReadBeside): Promise<DeviceState>;
  /** The state if it is cached and known to be current; otherwise undefined, whether or not the device exists. */
  cachedState(accessScope: AccessScope, deviceId: DeviceId): DeviceState | undefined;
  /** The device without its attributes. */
  device(accessScope: AccessScope, deviceId: DeviceId): Promise<DeviceRow>;
}

export function deviceReading(store: Store<Pick<Transaction, "devices">>, states: DeviceStates): DeviceReading {
  return {
    list: (userId) => store.read((tx) => tx.devices.ofUser(userId)),
    async page(accessScope, place) {
      // One extra row shows whether another page follows.
      const found = await store.read((tx) => tx.devices.page(accessScope, place, devicesPerPage + 1));
      const devices = found.slice(0, devicesPerPage);
      const next = found.length > devices.length ? { ...place, afterId: devices.at(-1)!.id } : undefined;
      return { devices, next };
    },
    async device(accessScope, deviceId) {
      const device = await store.read((tx) => tx.devices.within(accessScope, deviceId));
      if (!device) throw new UnknownDevice();
      return device;
    },
    async state(accessScope, deviceId, beside) {
      const userId = accessScope.kind === "user" ? accessScope.userId : await ownerWithin(store, accessScope, deviceId);
      const state = userId && (await states.get(userId, deviceId, beside));
      if (!state) throw new UnknownDevice();
      return state;
    },
    cachedState: (accessScope, deviceId) =>
      accessScope.kind === "user" ? states.cached(accessScope.userId, deviceId) : undefined,
  };
}

async function ownerWithin(
  store: Store<Pick<Transaction, "devices">>,
  accessScope: AccessScope,
  deviceId: DeviceId,
): Promise<UserId | undefined> {
  return (await store.read((tx) => tx.devices.within(accessScope, deviceId)))?.userId;
}

/** The attributes that have a value, in the order of the model or of their names. */
export function attributesWithValues(state: DeviceState): readonly ReadAttribute[] {
  return filterAttributes(state, ({ value }) => value !== null);
}

/**
 * The attributes that changed strictly after that time, including those that became blank, so that a polling client
 * drops the last state of a removed alarm.
 */
export function attributesSince(state: DeviceState, sinceMs: number): readonly ReadAttribute[] {
  return filterAttributes(state, ({ updateTimeMs }) => updateTimeMs > sinceMs);
}

function filterAttributes(
  state: DeviceState,
  isSelected: (attribute: ReadAttribute) => boolean,
): readonly ReadAttribute[] {
  const selected: ReadAttribute[] = [];
  for (const [key, { value, timeMs }] of state.attributes) {
    const attribute = { key, value, updateTimeMs: timeMs };
    if (isSelected(attribute)) selected.push(attribute);
  }
  // Most attributes are in this order already, because they were loaded in it; only later additions are not.
  return selected.sort((a, b) => (a.key < b.key ? -1 : 1));
}
