import { UnknownDevice } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { DeviceState, DeviceStates } from "./states.ts";

export interface ReadAttribute {
  readonly key: AttributeKey;
  readonly value: string | null;
  readonly updateTimeMs: number;
}

/** Reading one's own devices; a foreign one is as unknown as one that never was. */
export interface DeviceReading {
  list(userId: UserId): Promise<readonly DeviceRow[]>;
  state(userId: UserId, deviceId: DeviceId): Promise<DeviceState>;
}

export function deviceReading(store: Store<Pick<Transaction, "devices">>, states: DeviceStates): DeviceReading {
  return {
    list: (userId) => store.read((tx) => tx.devices.ofUser(userId)),
    async state(userId, deviceId) {
      const state = await states.get(userId, deviceId);
      if (!state) throw new UnknownDevice();
      return state;
    },
  };
}

/** The attributes that have a value, in the order of the model or of their names. */
export function attributesWithValues(state: DeviceState): readonly ReadAttribute[] {
  return ordered([...state.attributes].filter(([, { value }]) => value !== null));
}

/**
 * The attributes that changed strictly after that time, those that turned blank included, so that a poller never keeps
 * a gone alarm's last word.
 */
export function attributesSince(state: DeviceState, sinceMs: number): readonly ReadAttribute[] {
  return ordered([...state.attributes].filter(([, { timeMs }]) => timeMs > sinceMs));
}

function ordered(
  entries: readonly (readonly [AttributeKey, { readonly value: string | null; readonly timeMs: number }])[],
): readonly ReadAttribute[] {
  return entries
    .map(([key, { value, timeMs }]) => ({ key, value, updateTimeMs: timeMs }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}
