import { type SelectedAttribute, selectAttributes } from "../../devices/attribute-query.ts";
import type { DeviceState } from "../../devices/states.ts";
import { wireValue } from "../../devices/wire-attribute.ts";
import { type Freshness, ordinaryFreshness } from "../../federation/freshness.ts";
import { jsonTextAnswer } from "../../http/answer/answer.ts";
import { PreparedAnswer } from "../../http/answer/prepared-answer.ts";
import type { Principal } from "../../identity/principal.ts";
import type { UserId } from "../../model/ids.ts";
import type { CurrentDevice } from "./current-device.ts";

/** The JSON of a device with the selected attributes. */
export function deviceBody(
  { device }: DeviceState,
  { isPresent, isStale, confirmedTimeMs }: Freshness,
  attributes: readonly SelectedAttribute[],
  caller: Principal,
): string {
  const { id, name, room, typeName } = device;
  return JSON.stringify({
    deviceId: id,
    ...ownerFor(caller, device),
    deviceName: name,
    ...(room !== null && { room }),
    deviceTypeName: typeName,
    presenceInfo: isPresent ? 1 : 0,
    stale: isStale,
    ...(confirmedTimeMs !== null && { confirmedTime: confirmedTimeMs }),
    attributes: Object.fromEntries(attributes.map(shownAttribute)),
  });
}

/** An ordinary device that was just written: it is present and never stale. */
export function newDeviceBody(state: DeviceState, caller: Principal): string {
  return deviceBody(state, ordinaryFreshness, selectAttributes(state, allAttributes), caller);
}

/** The owner's id, only for enterprise clients: they read devices of many users. */
export function ownerFor(caller: Principal, { userId }: { readonly userId: UserId }): { readonly userId?: UserId } {
  return caller.kind === "enterprise" ? { userId } : {};
}

/**
 * Caches the answers with all attributes, by device state and kind of caller. An answer is used only while the freshness
 * is the same. States are immutable and held weakly: the old state's answer is garbage-collected with the old state.
 */
export class DeviceAnswerCache {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #cached: Readonly<Record<Principal["kind"], WeakMap<DeviceState, CachedAnswer>>> = {
    user: new WeakMap(),
    enterprise: new WeakMap(),
  };

  /** `headers`: added to those of every JSON answer. */
  constructor(headers: Readonly<Record<string, string>> = {}) {
    this.#headers = headers;
  }

  answer({ state, freshness }: CurrentDevice, caller: Principal): PreparedAnswer {
    const cached = this.#cached[caller.kind].get(state);
    if (cached && isSame(cached.freshness, freshness)) return cached.answer;
    const body = deviceBody(state, freshness, selectAttributes(state, allAttributes), caller);
    const { headers } = jsonTextAnswer(200, body);
    const answer = new PreparedAnswer({ headers: { ...this.#headers, ...headers }, body });
    this.#cached[caller.kind].set(state, { freshness, answer });
    return answer;
  }
}

interface CachedAnswer {
  readonly freshness: Freshness;
  readonly answer: PreparedAnswer;
}

/** An empty list of names selects all attributes. */
const allAttributes = { names: [], sinceMs: undefined };

function isSame(one: Freshness, other: Freshness): boolean {
  return (
    one.isPresent === other.isPresent && one.isStale === other.isStale && one.confirmedTimeMs === other.confirmedTimeMs
  );
}

function shownAttribute({ key, name, value, updateTimeMs }: SelectedAttribute) {
  return [name, { value: wireValue(key, value), updateTime: updateTimeMs }] as const;
}
