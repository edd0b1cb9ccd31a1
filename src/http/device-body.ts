import { askedAttributes, type NamedAttribute } from "../devices/asked-attributes.ts";
import { shownValue } from "../devices/shown-attribute.ts";
import type { DeviceState } from "../devices/states.ts";
import type { Freshness } from "../federation/freshness.ts";
import { jsonTextAnswer } from "./answer.ts";
import type { DeviceNow } from "./device-now.ts";
import { PreparedAnswer } from "./prepared-answer.ts";

/** A device as it is shown, with those of its attributes that were asked for. */
export function deviceBody(
  { device: { id, name, typeName } }: DeviceState,
  { isPresent, isStale, confirmedTimeMs }: Freshness,
  attributes: readonly NamedAttribute[],
): string {
  return JSON.stringify({
    deviceId: id,
    deviceName: name,
    deviceTypeName: typeName,
    presenceInfo: isPresent ? 1 : 0,
    stale: isStale,
    ...(confirmedTimeMs !== null && { confirmedTime: confirmedTimeMs }),
    attributes: Object.fromEntries(attributes.map(shownAttribute)),
  });
}

/**
 * The same with all attributes, made once for each state of a device: a state never changes, another takes its place,
 * and with it goes what was made of it.
 */
export class WholeDevices {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #made = new WeakMap<DeviceState, { readonly freshness: Freshness; readonly answer: PreparedAnswer }>();

  /** With headers that the answers have besides. */
  constructor(headers: Readonly<Record<string, string>> = {}) {
    this.#headers = headers;
  }

  answer({ state, freshness }: DeviceNow): PreparedAnswer {
    const made = this.#made.get(state);
    if (made && isSame(made.freshness, freshness)) return made.answer;
    const body = deviceBody(state, freshness, askedAttributes(state, everything));
    const { headers } = jsonTextAnswer(200, body);
    const answer = new PreparedAnswer({ headers: { ...this.#headers, ...headers }, body });
    this.#made.set(state, { freshness, answer });
    return answer;
  }
}

const everything = { names: [], sinceMs: undefined };

function isSame(one: Freshness, other: Freshness): boolean {
  return (
    one.isPresent === other.isPresent && one.isStale === other.isStale && one.confirmedTimeMs === other.confirmedTimeMs
  );
}

function shownAttribute({ key, name, value, updateTimeMs }: NamedAttribute) {
  return [name, { value: shownValue(key, value), updateTime: updateTimeMs }] as const;
}
