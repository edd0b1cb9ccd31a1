import type { AreaEntry, DeviceEntry, EntityEntry, EntityState, Instance, TemperatureUnit } from "./instance.ts";
import type { KeptTokens, Tokens } from "./tokens.ts";

/** What a state file holds. Its tokens are valid in the simulator only. */
export interface KeptInstance {
  readonly locationName: string;
  readonly temperatureUnit: TemperatureUnit;
  /** Missing in files whose fans lack the features of newer versions. */
  readonly version?: string;
  readonly areas: readonly (readonly [string, AreaEntry])[];
  readonly devices: readonly (readonly [string, DeviceEntry])[];
  readonly entities: readonly (readonly [string, EntityEntry])[];
  readonly states: readonly (readonly [string, EntityState])[];
  readonly tokens: KeptTokens;
}

export function keptOf(instance: Instance, tokens: Tokens): KeptInstance {
  const { locationName, temperatureUnit, version, areas, devices, entities, states, lost } = instance;
  // A device that does not answer is back with the next run.
  const found = new Map([...states, ...lost]);
  const lists = { areas: [...areas], devices: [...devices], entities: [...entities], states: [...found] };
  return { locationName, temperatureUnit, version, ...lists, tokens: tokens.kept };
}

export function restoreKept(instance: Instance, tokens: Tokens, kept: KeptInstance): void {
  instance.locationName = kept.locationName;
  instance.temperatureUnit = kept.temperatureUnit;
  instance.version = kept.version ?? "2024.7.4";
  for (const list of ["areas", "devices", "entities", "states"] as const) {
    for (const [id, entry] of kept[list]) (instance[list] as Map<string, unknown>).set(id, entry);
  }
  tokens.restore(kept.tokens);
}
