import { isDeepStrictEqual } from "node:util";
import { textOf } from "../kit/document-values.ts";
import { isJsonObject, type JsonObject } from "../kit/parse-json.ts";
import type { AccountList } from "./lists.ts";
import { traitNames } from "./trait-names.ts";

interface TraitState {
  readonly fields: JsonObject;
  /** The last event of each field. A field without one is only listed. */
  readonly events: ReadonlyMap<string, FieldEvent>;
}

interface FieldEvent {
  /** By Google's clock. */
  readonly timeMs: number;
  /** The number of the event in the order of arrival. */
  readonly arrival: number;
}

type ListWindow = Pick<AccountList, "fromMs" | "toMs">;

const noEvents: TraitState["events"] = new Map();

/**
 * The traits of one device, from lists and events. Events arrive in any order and more than once, and hold only the
 * fields that have changed, so the time of each field decides. A list has no times of its own: it is known to hold all
 * changes until `fromMs` and none after `toMs`. An event between these times is in doubt, and only another list settles
 * it.
 */
export class DeviceState {
  readonly name: string;
  type = "";
  parents: readonly JsonObject[] = [];
  readonly #traits = new Map<string, TraitState>();
  #listed: ListWindow = { fromMs: 0, toMs: 0 };

  constructor(name: string) {
    this.name = name;
  }

  trait(name: string): JsonObject | undefined {
    return this.#traits.get(name)?.fields;
  }

  /** Values that are known from before, and that a list may leave out. */
  seed(name: string, fields: JsonObject): void {
    if (!this.#traits.has(name)) this.#traits.set(name, { fields, events: noEvents });
  }

  /** Takes the device of a list that was requested after the event `arrivals`. Returns whether it leaves a doubt. */
  list(device: JsonObject, list: ListWindow, arrivals: number): boolean {
    this.#listed = list;
    this.type = textOf(device.type) ?? this.type;
    this.parents = Array.isArray(device.parentRelations) ? device.parentRelations.filter(isJsonObject) : [];
    const traits = isJsonObject(device.traits) ? device.traits : {};
    const isHeld = (event: FieldEvent) => isCovered(event, list, arrivals);
    let isInDoubt = false;
    for (const [name, value] of Object.entries(traits)) {
      if (isJsonObject(value)) isInDoubt = this.#listTrait(name, value, isHeld) || isInDoubt;
    }
    for (const [name, { events }] of this.#traits) {
      const isGone = !Object.hasOwn(traits, name) && name !== traitNames.setpoint;
      if (isGone && [...events.values()].every(isHeld)) this.#traits.delete(name);
    }
    return isInDoubt;
  }

  /** Applies the fields of an event that no later event has told. Returns whether it leaves a doubt. */
  apply(name: string, update: JsonObject, timeMs: number, arrival: number): boolean {
    if (timeMs <= this.#listed.fromMs) return false;
    const before = this.#traits.get(name);
    const newer = Object.entries(update).filter(([field]) => timeMs > (before?.events.get(field)?.timeMs ?? 0));
    if (before && newer.length === 0) return false;
    const fields = { ...before?.fields, ...Object.fromEntries(newer) };
    const isInDoubt = timeMs <= this.#listed.toMs && !isDeepStrictEqual(before?.fields, fields);
    const events = new Map(before?.events);
    for (const [field] of newer) events.set(field, { timeMs, arrival });
    this.#traits.set(name, { fields: isInDoubt ? (before?.fields ?? {}) : fields, events });
    return isInDoubt;
  }

  /** Takes a trait of the last list, except the fields that a later event has told. Returns whether it leaves a doubt. */
  #listTrait(name: string, value: JsonObject, isHeld: (event: FieldEvent) => boolean): boolean {
    const { fields: before, events } = this.#traits.get(name) ?? { fields: {}, events: noEvents };
    // An empty setpoint keeps the last one: it returns with its mode.
    const fields: Record<string, unknown> = name === traitNames.setpoint ? { ...before, ...value } : { ...value };
    let isInDoubt = false;
    for (const [field, event] of events) {
      if (isHeld(event) || isDeepStrictEqual(before[field], fields[field])) continue;
      if (Object.hasOwn(before, field)) fields[field] = before[field];
      else delete fields[field];
      if (event.timeMs <= this.#listed.toMs) isInDoubt = true;
    }
    this.#traits.set(name, { fields, events });
    return isInDoubt;
  }
}

/** Whether a list holds what an event said: the event is older, or had arrived before the list was requested. */
function isCovered({ timeMs, arrival }: FieldEvent, { fromMs, toMs }: ListWindow, arrivals: number): boolean {
  return timeMs <= fromMs || (arrival <= arrivals && timeMs <= toMs);
}
