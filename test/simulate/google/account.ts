import type { Dice } from "../dice.ts";

/** A thermostat of an account. Targets only rise, so that an older one can be told from a newer one. */
export interface GoogleThermostat {
  label: string;
  mode: "HEAT" | "OFF";
  heatCelsius: number;
  isOnline: boolean;
}

/** The changed traits of one device, or that devices were added or removed. */
export type AccountChange =
  | { readonly device: string; readonly traits: Readonly<Record<string, object>> }
  | { readonly relation: true };

const project = "enterprises/project";
const structure = `${project}/structures/s1`;
const mostThermostats = 4;

/** An account at Google: one structure with a few thermostats. */
export class GoogleAccount {
  readonly id: string;
  readonly thermostats = new Map<string, GoogleThermostat>();
  readonly #dice: Dice;
  #changes = 0;

  constructor(id: string, dice: Dice) {
    this.id = id;
    this.#dice = dice;
    for (let count = dice.between(1, 2); count > 0; count--) this.#add();
  }

  /** Makes a random change. */
  change(): AccountChange {
    const what = this.#dice.weighted({ heat: 10, mode: 3, online: 3, label: 2, add: 1, remove: 1 });
    if (what === "add" && this.thermostats.size < mostThermostats) return this.#add();
    if (what === "remove" && this.thermostats.size > 1) {
      this.thermostats.delete(this.#dice.pick([...this.thermostats.keys()]));
      return { relation: true };
    }
    const [device, thermostat] = this.#dice.pick([...this.thermostats]);
    if (what === "mode") {
      thermostat.mode = thermostat.mode === "HEAT" ? "OFF" : "HEAT";
      return { device, traits: pick(thermostat, ["ThermostatMode", "ThermostatTemperatureSetpoint"]) };
    }
    if (what === "online") {
      thermostat.isOnline = !thermostat.isOnline;
      return { device, traits: pick(thermostat, ["Connectivity"]) };
    }
    if (what === "label") {
      thermostat.label = `label ${++this.#changes}`;
      return { device, traits: pick(thermostat, ["Info"]) };
    }
    return this.setHeat(device);
  }

  /** Sets the next target of a thermostat, and switches it to heating. */
  setHeat(device = this.#dice.pick([...this.thermostats.keys()])): AccountChange {
    const thermostat = this.thermostats.get(device)!;
    const wasOff = thermostat.mode === "OFF";
    thermostat.mode = "HEAT";
    thermostat.heatCelsius = this.#nextCelsius();
    const changed = wasOff ? ["ThermostatMode", "ThermostatTemperatureSetpoint"] : ["ThermostatTemperatureSetpoint"];
    return { device, traits: pick(thermostat, changed) };
  }

  /** The list of devices, as Google answers it. */
  devices(): object {
    const devices = [...this.thermostats].map(([name, thermostat]) => ({
      name,
      type: "sdm.devices.types.THERMOSTAT",
      traits: traitsOf(thermostat),
      parentRelations: [{ parent: structure, displayName: "Hall" }],
    }));
    return { devices };
  }

  structures(): object {
    return { structures: [{ name: structure, traits: { "sdm.structures.traits.Info": { customName: "House" } } }] };
  }

  #add(): AccountChange {
    const name = `${project}/devices/d${++this.#changes}`;
    const heatCelsius = this.#nextCelsius();
    this.thermostats.set(name, { label: "", mode: "HEAT", heatCelsius, isOnline: true });
    return { relation: true };
  }

  #nextCelsius(): number {
    this.#changes += 1;
    return Math.round((9 + this.#changes * 0.01) * 100) / 100;
  }
}

function traitsOf({ label, mode, heatCelsius, isOnline }: GoogleThermostat): Record<string, object> {
  return {
    "sdm.devices.traits.Info": { customName: label },
    "sdm.devices.traits.Connectivity": { status: isOnline ? "ONLINE" : "OFFLINE" },
    "sdm.devices.traits.ThermostatMode": { mode, availableModes: ["HEAT", "OFF"] },
    // Google does not tell a target that is not in force.
    "sdm.devices.traits.ThermostatTemperatureSetpoint": mode === "HEAT" ? { heatCelsius } : {},
  };
}

function pick(thermostat: GoogleThermostat, names: readonly string[]): Record<string, object> {
  const traits = traitsOf(thermostat);
  return Object.fromEntries(names.map((name) => [`sdm.devices.traits.${name}`, traits[`sdm.devices.traits.${name}`]!]));
}
