import { type SelectedAttribute, selectAttributes } from "../../devices/attribute-query.ts";
import type { DeviceState } from "../../devices/states.ts";
import { wireValue } from "../../devices/wire-attribute.ts";
import type { Freshness } from "../../federation/freshness.ts";
import { jsonTextAnswer } from "../../http/answer/answer.ts";
import { PreparedAnswer } from "../../http/answer/prepared-answer.ts";
import type { Principal } from "../../identity/principal.ts";
import type { UserId } from "../../model/ids.ts";
import type { DeviceNow } from "./device-now.ts";

/** A device as it is shown, with those of its attributes that were asked for. */
export function deviceBody(
  { device }: DeviceState,
  { isPresent, isStale, confirmedTimeMs }: Freshness,
  attributes: readonly SelectedAttribute[],
  caller: Principal,
): string {
  const { id, name, typeName } = device;
  return JSON.stringify({
    deviceId: id,
    ...ownerFor(caller, device),
    deviceName: name,
    deviceTypeName: typeName,
    presenceInfo: isPresent ? 1 : 0,
    stale: isStale,
    ...(confirmedTimeMs !== null && { confirmedTime: confirmedTimeMs }),
    attributes: Object.fromEntries(attributes.map(shownAttribute)),
  });
}

/** Whose device it is. An enterprise client reads the devices of many users; a user's client knows its user. */
export function ownerFor(caller: Principal, { userId }: { readonly userId: UserId }): { readonly userId?: UserId } {
  return caller.kind === "enterprise" ? { userId } : {};
}

/**
 * The same with all attributes, made once for each state of a device and kind of caller: a state never changes, another
 * takes its place, and with it goes what was made of it.
 */
export class WholeDevices {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #made: Readonly<Record<Principal["kind"], WeakMap<DeviceState, MadeAnswer>>> = {
    user: new WeakMap(),
    enterprise: new WeakMap(),
  };

  /** With headers that the answers have besides. */
  constructor(headers: Readonly<Record<string, string>> = {}) {
    this.#headers = headers;
  }

  answer({ state, freshness }: DeviceNow, caller: Principal): PreparedAnswer {
    const made = this.#made[caller.kind].get(state);
    if (made && isSame(made.freshness, freshness)) return made.answer;
    const body = deviceBody(state, freshness, selectAttributes(state, everything), caller);
    const { headers } = jsonTextAnswer(200, body);
    const answer = new PreparedAnswer({ headers: { ...this.#headers, ...headers }, body });
    this.#made[caller.kind].set(state, { freshness, answer });
    return answer;
  }
}

interface MadeAnswer {
  readonly freshness: Freshness;
  readonly answer: PreparedAnswer;
}

const everything = { names: [], sinceMs: undefined };

function isSame(one: Freshness, other: Freshness): boolean {
  return (
    one.isPresent === other.isPresent && one.isStale === other.isStale && one.confirmedTimeMs === other.confirmedTimeMs
  );
}

function shownAttribute({ key, name, value, updateTimeMs }: SelectedAttribute) {
  return [name, { value: wireValue(key, value), updateTime: updateTimeMs }] as const;
}
