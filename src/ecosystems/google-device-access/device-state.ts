import { isDeepStrictEqual } from "node:util";
import { textOf } from "../kit/document-values.ts";
import { isJsonObject, type JsonObject } from "../kit/parse-json.ts";
import type { AccountList } from "./lists.ts";
import { traitNames } from "./trait-names.ts";

interface TraitState {
  readonly fields: JsonObject;
  /** The time of the last event that was applied or known, by Google's clock; undefined: only listed. */
  readonly eventMs: number | undefined;
  /** The number of the event in the order of arrival. */
  readonly arrival: number;
}

/**
 * The traits of one device, from lists and events. Events arrive in any order and more than once, so the time of each
 * trait decides. A list has no times of its own: it is known to hold all changes until `fromMs` and none after `toMs`.
 * An event between these times is in doubt, and only another list settles it.
 */
export class DeviceState {
  readonly name: string;
  type = "";
  parents: readonly JsonObject[] = [];
  readonly #traits = new Map<string, TraitState>();
  #listed: Pick<AccountList, "fromMs" | "toMs"> = { fromMs: 0, toMs: 0 };

  constructor(name: string) {
    this.name = name;
  }

  trait(name: string): JsonObject | undefined {
    return this.#traits.get(name)?.fields;
  }

  /** Values that are known from before, and that a list may leave out. */
  seed(name: string, fields: JsonObject): void {
    if (!this.#traits.has(name)) this.#traits.set(name, { fields, eventMs: undefined, arrival: 0 });
  }

  /** Takes the device of a list that was requested after the event `arrivals`. Returns whether it leaves a doubt. */
  list(device: JsonObject, list: Pick<AccountList, "fromMs" | "toMs">, arrivals: number): boolean {
    this.#listed = list;
    this.type = textOf(device.type) ?? this.type;
    this.parents = Array.isArray(device.parentRelations) ? device.parentRelations.filter(isJsonObject) : [];
    const traits = isJsonObject(device.traits) ? device.traits : {};
    let isInDoubt = false;
    for (const [name, value] of Object.entries(traits)) {
      if (!isJsonObject(value)) continue;
      const before = this.#traits.get(name);
      // An empty setpoint keeps the last one: it returns with its mode.
      const fields = name === traitNames.setpoint ? { ...before?.fields, ...value } : value;
      if (before?.eventMs === undefined) this.#traits.set(name, { fields, eventMs: undefined, arrival: 0 });
      else if (isDeepStrictEqual(before.fields, fields)) continue;
      else if (isCovered(before, list, arrivals)) this.#traits.set(name, { ...before, fields });
      else if (before.eventMs <= list.toMs) isInDoubt = true;
    }
    for (const [name, state] of this.#traits) {
      const isGone = !Object.hasOwn(traits, name) && name !== traitNames.setpoint;
      if (isGone && (state.eventMs === undefined || isCovered(state, list, arrivals))) this.#traits.delete(name);
    }
    return isInDoubt;
  }

  /** Applies a trait of an event, unless it is older than what is known. Returns whether it leaves a doubt. */
  apply(name: string, update: JsonObject, timeMs: number, arrival: number): boolean {
    const before = this.#traits.get(name);
    if (timeMs <= Math.max(before?.eventMs ?? 0, this.#listed.fromMs)) return false;
    // A trait in an event holds only the fields that have changed.
    const fields = { ...before?.fields, ...update };
    const changes = !isDeepStrictEqual(before?.fields, fields);
    const isInDoubt = changes && timeMs <= this.#listed.toMs;
    this.#traits.set(name, { fields: isInDoubt ? (before?.fields ?? {}) : fields, eventMs: timeMs, arrival });
    return isInDoubt;
  }
}

/** Whether a list holds what an event said: the event is older, or had arrived before the list was requested. */
function isCovered({ eventMs, arrival }: TraitState, list: Pick<AccountList, "fromMs" | "toMs">, arrivals: number) {
  return eventMs! <= list.fromMs || (arrival <= arrivals && eventMs! <= list.toMs);
}
