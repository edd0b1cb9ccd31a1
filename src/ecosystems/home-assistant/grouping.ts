import type { ThingKind } from "../../home/thing.ts";
import type { Entity, Registries } from "./registries.ts";
import { describesDevice, type Role } from "./roles.ts";

/** The entities of one thing. */
export interface Group {
  readonly listing: "thermostats" | "alarms" | "others";
  readonly kind: ThingKind;
  /** Its registry id is the thing's id. */
  readonly primary: Entity;
  readonly parts: Readonly<Partial<Record<Role, Entity>>>;
  /** The thing is the only one of its device, so that the device's name is its name. */
  readonly isSole: boolean;
}

export interface RoledEntity {
  readonly entity: Entity;
  readonly role: Role;
}

/**
 * Groups entities to things. Primary entities are climate, fan, light, switch, smoke and CO; each is a thing of its own,
 * except that a climate absorbs the fan of its device, and a smoke sensor the CO sensor of its device. Battery and
 * connectivity belong to all things of a device. Temperature and humidity belong to the only thing of a device, or are
 * a sensor of their own.
 */
export function groupEntities(entities: readonly RoledEntity[], { devices }: Registries): readonly Group[] {
  const byDevice = new Map<string, RoledEntity[]>();
  for (const one of entities) {
    const { entity, role } = one;
    const isDiagnostic = entity.category !== null && !describesDevice(role);
    if (entity.isLeftOut || isDiagnostic || role === "person" || role === "zone") continue;
    const isOfDevice = entity.deviceId !== null && devices.has(entity.deviceId);
    const key = isOfDevice ? `device ${entity.deviceId}` : `entity ${entity.id}`;
    const known = byDevice.get(key);
    if (known) known.push(one);
    else byDevice.set(key, [one]);
  }
  return [...byDevice.values()].flatMap(groupsOfDevice);
}

type MutableParts = Partial<Record<Role, Entity>>;

function groupsOfDevice(entities: readonly RoledEntity[]): readonly Group[] {
  // Sorted by id, so that the same entities always form the same groups.
  const sorted = entities.toSorted((a, b) => (a.entity.id < b.entity.id ? -1 : 1));
  const of = (role: Role) => sorted.filter((one) => one.role === role).map(({ entity }) => entity);
  const shared: MutableParts = {};
  for (const role of ["batteryLow", "batteryLevel", "connectivity"] as const) {
    const [first] = of(role);
    if (first) shared[role] = first;
  }
  const [fans, monoxides] = [of("fan"), of("carbonMonoxide")];
  const found: { listing: Group["listing"]; kind: ThingKind; primary: Entity; parts: MutableParts }[] = [];
  const add = (listing: Group["listing"], kind: ThingKind, primary: Entity, parts: MutableParts) =>
    found.push({ listing, kind, primary, parts: { ...shared, ...parts } });
  for (const climate of of("climate")) add("thermostats", "thermostat", climate, { climate, ...taken("fan", fans) });
  for (const smoke of of("smoke")) add("alarms", "alarm", smoke, { smoke, ...taken("carbonMonoxide", monoxides) });
  for (const carbonMonoxide of monoxides) add("alarms", "alarm", carbonMonoxide, { carbonMonoxide });
  for (const fan of fans) add("others", "fan", fan, { fan });
  for (const light of of("light")) add("others", "light", light, { light });
  for (const one of of("switch")) add("others", "switch", one, { switch: one });
  addMeasured(found, shared, of("temperature"), of("humidity"));
  return found.map((group) => ({ ...group, isSole: found.length === 1 }));
}

/** Takes the first entity out of the list. */
function taken(role: Role, entities: Entity[]): MutableParts {
  const first = entities.shift();
  return first ? { [role]: first } : {};
}

function addMeasured(
  found: { listing: Group["listing"]; kind: ThingKind; primary: Entity; parts: MutableParts }[],
  shared: MutableParts,
  temperatures: Entity[],
  humidities: Entity[],
): void {
  const [sole] = found;
  if (found.length === 1) Object.assign(sole!.parts, taken("temperature", temperatures), taken("humidity", humidities));
  while (temperatures.length + humidities.length > 0) {
    const primary = (temperatures[0] ?? humidities[0])!;
    const parts = { ...shared, ...taken("temperature", temperatures), ...taken("humidity", humidities) };
    found.push({ listing: "others", kind: "sensor", primary, parts });
  }
}
