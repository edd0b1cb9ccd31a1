/** What an entity contributes to a thing. */
export type Role =
  | "climate"
  | "fan"
  | "pump"
  | "light"
  | "switch"
  | "smoke"
  | "carbonMonoxide"
  | "temperature"
  | "humidity"
  | "batteryLow"
  | "batteryLevel"
  | "connectivity"
  | AlarmCondition
  | "person"
  | "zone";

/** What an alarm says of itself. */
export type AlarmCondition = "fault" | "endOfLife" | "testing" | "muted";

/**
 * The role of an entity by its domain, its device class and what its integration calls it; undefined for all others,
 * which are not mirrored.
 */
export function roleOf(entityId: string, deviceClass: unknown, translationKey: string | null = null): Role | undefined {
  const domain = entityId.slice(0, entityId.indexOf("."));
  switch (domain) {
    case "fan":
      return deviceClass === "pump" ? "pump" : domain;
    case "climate":
    case "light":
    case "switch":
    case "person":
      return domain;
    case "zone":
      return entityId === homeZone ? "zone" : undefined;
    case "binary_sensor":
      return sensorsOfDanger.get(deviceClass) ?? conditionsByKey.get(translationKey) ?? binarySensors.get(deviceClass);
    case "sensor":
      return sensors.get(deviceClass);
    default:
      return undefined;
  }
}

/** The zone whose state is the number of persons at home. */
export const homeZone = "zone.home";

const sensorsOfDanger: ReadonlyMap<unknown, Role> = new Map([
  ["smoke", "smoke"],
  ["carbon_monoxide", "carbonMonoxide"],
] as const);

const binarySensors: ReadonlyMap<unknown, Role> = new Map([
  ["battery", "batteryLow"],
  ["connectivity", "connectivity"],
  ["problem", "fault"],
  ["running", "testing"],
] as const);

/** The names of the Matter integration. Its end of service has the class `problem`, and its mute has none. */
const conditionsByKey: ReadonlyMap<unknown, AlarmCondition> = new Map([
  ["hardware_fault", "fault"],
  ["end_of_service", "endOfLife"],
  ["test_in_progress", "testing"],
  ["muted", "muted"],
] as const);

export const alarmConditions: readonly AlarmCondition[] = ["fault", "endOfLife", "testing", "muted"];

export function isAlarmCondition(role: Role): role is AlarmCondition {
  return (alarmConditions as readonly Role[]).includes(role);
}

const sensors: ReadonlyMap<unknown, Role> = new Map([
  ["temperature", "temperature"],
  ["humidity", "humidity"],
  ["battery", "batteryLevel"],
] as const);

/** These describe the whole device; integrations usually mark them as diagnostic. */
export function describesDevice(role: Role): boolean {
  return role === "batteryLow" || role === "batteryLevel" || role === "connectivity" || isAlarmCondition(role);
}
