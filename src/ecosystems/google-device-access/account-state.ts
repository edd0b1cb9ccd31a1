import type { Home } from "../../home/home.ts";
import { structureIn, thermostatKey } from "../../home/reported-things.ts";
import { isJsonObject, type JsonObject } from "../../runtime/json/untrusted-json.ts";
import type { StreamListener } from "../connector.ts";
import type { KnownThing } from "../feed.ts";
import { textOf } from "../kit/document-values.ts";
import { WholeHome } from "../kit/whole-home.ts";
import { DeviceState } from "./device-state.ts";
import type { AccountEvent } from "./events.ts";
import type { NeededList } from "./list-planner.ts";
import type { AccountList } from "./lists.ts";
import { isThermostat, structureOf, type TargetRange, thermostatThing } from "./thermostat-thing.ts";
import { structureInfo, traitNames } from "./trait-names.ts";

/** How many events had been applied and how many lists taken when a list was requested. */
export interface ListMark {
  readonly arrivals: number;
  readonly lists: number;
}

const kinds = ["structures", "thermostats"] as const;

/** The home of one account, from its lists and events. */
export class AccountState {
  readonly #range: TargetRange;
  readonly #devices = new Map<string, DeviceState>();
  readonly #whole = new WholeHome(kinds);
  #structures: readonly JsonObject[] = [];
  #arrivals = 0;
  #lists = 0;

  constructor(range: TargetRange) {
    this.#range = range;
  }

  /** How many events have arrived. */
  get arrivals(): number {
    return this.#arrivals;
  }

  /** The present mark, for a list that is requested now. */
  get mark(): ListMark {
    return { arrivals: this.#arrivals, lists: this.#lists };
  }

  get structures(): readonly JsonObject[] {
    return this.#structures;
  }

  /** Setpoints that are stored from before: Google does not tell them while they are not in force. */
  seed(stored: ReadonlyMap<string, KnownThing>, { devices }: AccountList): void {
    for (const { name } of devices) {
      const state = typeof name === "string" ? stored.get(thermostatKey(name))?.traits.thermostat?.state : undefined;
      if (!state || typeof name !== "string") continue;
      const { heatCelsius, coolCelsius } = state;
      this.#device(name).seed(traitNames.setpoint, {
        ...(heatCelsius !== null && { heatCelsius }),
        ...(coolCelsius !== null && { coolCelsius }),
      });
    }
  }

  /** Takes a list that was requested at the mark. Returns whether events are in doubt. */
  list(list: AccountList, { arrivals, lists } = this.mark): boolean {
    // Another list was taken meanwhile: which of the two is newer is not known.
    if (lists !== this.#lists) return true;
    this.#lists += 1;
    let isInDoubt = false;
    const named = new Set<string>();
    for (const device of list.devices) {
      if (typeof device.name !== "string") continue;
      named.add(device.name);
      isInDoubt = this.#device(device.name).list(device, list, arrivals) || isInDoubt;
    }
    for (const name of this.#devices.keys()) if (!named.has(name)) this.#devices.delete(name);
    this.#structures = list.structures;
    for (const kind of kinds) this.#whole.beginListing(kind);
    for (const [id, name] of this.#structureNames()) this.#whole.set("structures", id, { name, listsDevices: true });
    for (const device of this.#devices.values()) this.#see(device);
    for (const kind of kinds) this.#whole.endListing(kind);
    return isInDoubt;
  }

  /** Applies an event, or ignores all of a mistaken one. Returns which list must follow. */
  apply(event: AccountEvent): NeededList {
    this.#arrivals += 1;
    if (event.kind === "relation") return "all";
    if (event.kind === "other") return "none";
    const device = this.#devices.get(event.device);
    if (!device) return "all";
    if (hasOnlyOff(event.traits[traitNames.mode]) && !hasOnlyOff(device.trait(traitNames.mode))) return "devices";
    let isInDoubt = false;
    for (const [name, fields] of Object.entries(event.traits)) {
      isInDoubt = device.apply(name, fields, event.timeMs, this.#arrivals) || isInDoubt;
    }
    this.#see(device);
    return isInDoubt ? "doubts" : "none";
  }

  /** Applies the events that are in doubt, without another list. */
  settleDoubts(): void {
    for (const device of this.#devices.values()) {
      device.settleDoubts();
      this.#see(device);
    }
  }

  /** Whether a thermostat is in a structure whose name is not known. */
  get lacksStructures(): boolean {
    const known = new Set(this.#structures.map(({ name }) => name));
    return [...this.#devices.values()].some((device) => {
      const id = isThermostat(device) ? structureOf(device) : null;
      return id !== null && !known.has(id);
    });
  }

  home(): Home {
    return this.#whole.home()!;
  }

  /** Tells the listener the home, or that it has not changed. */
  report(listener: Pick<StreamListener, "home" | "unchanged">): void {
    this.#whole.report(listener);
  }

  #device(name: string): DeviceState {
    const known = this.#devices.get(name) ?? new DeviceState(name);
    this.#devices.set(name, known);
    return known;
  }

  #see(device: DeviceState): void {
    if (isThermostat(device)) this.#whole.set("thermostats", device.name, thermostatThing(device, this.#range));
  }

  /** The listed structures, and those that only devices name. */
  #structureNames(): ReadonlyMap<string, string | null> {
    const names = new Map<string, string | null>();
    for (const device of this.#devices.values()) {
      const id = structureOf(device);
      if (id !== null && isThermostat(device)) names.set(id, null);
    }
    for (const { name, traits } of this.#structures) {
      if (typeof name !== "string") continue;
      const info = isJsonObject(traits) ? traits[structureInfo] : undefined;
      names.set(name, (isJsonObject(info) && textOf(info.customName)) || null);
    }
    return names;
  }
}

/** The structures of things that are stored, as a list would show them. Undefined when there are none. */
export function storedStructures(stored: ReadonlyMap<string, KnownThing>): readonly JsonObject[] | undefined {
  const structures = [...stored].flatMap(([key, { name }]) => {
    const id = structureIn(key);
    return id === undefined ? [] : [{ name: id, traits: { [structureInfo]: { customName: name ?? "" } } }];
  });
  return structures.length > 0 ? structures : undefined;
}

/**
 * Google sends such updates by mistake, with eco targets of 0 °C: none of their values is true. The thermostat has its
 * modes, as a list shows.
 */
function hasOnlyOff(mode: JsonObject | undefined): boolean {
  const modes = mode?.availableModes;
  return Array.isArray(modes) && modes.length === 1 && modes[0] === "OFF";
}
