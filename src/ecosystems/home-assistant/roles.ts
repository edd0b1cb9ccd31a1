/** What an entity contributes to a thing. */
export type Role =
  | "climate"
  | "fan"
  | "light"
  | "switch"
  | "smoke"
  | "carbonMonoxide"
  | "temperature"
  | "humidity"
  | "batteryLow"
  | "batteryLevel"
  | "connectivity"
  | "person"
  | "zone";

/** The role of an entity by its domain and device class; undefined for all others, which are not mirrored. */
export function roleOf(entityId: string, deviceClass: unknown): Role | undefined {
  const domain = entityId.slice(0, entityId.indexOf("."));
  switch (domain) {
    case "climate":
    case "fan":
    case "light":
    case "switch":
    case "person":
      return domain;
    case "zone":
      return entityId === homeZone ? "zone" : undefined;
    case "binary_sensor":
      return binarySensors.get(deviceClass);
    case "sensor":
      return sensors.get(deviceClass);
    default:
      return undefined;
  }
}

/** The zone whose state is the number of persons at home. */
export const homeZone = "zone.home";

const binarySensors: ReadonlyMap<unknown, Role> = new Map([
  ["smoke", "smoke"],
  ["carbon_monoxide", "carbonMonoxide"],
  ["battery", "batteryLow"],
  ["connectivity", "connectivity"],
] as const);

const sensors: ReadonlyMap<unknown, Role> = new Map([
  ["temperature", "temperature"],
  ["humidity", "humidity"],
  ["battery", "batteryLevel"],
] as const);

/** These describe the whole device; integrations usually mark them as diagnostic. */
export function describesDevice(role: Role): boolean {
  return role === "batteryLow" || role === "batteryLevel" || role === "connectivity";
}
