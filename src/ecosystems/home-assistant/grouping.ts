import type { ThingKind } from "../../home/thing.ts";
import type { Entity, Registries } from "./registries.ts";
import { type AlarmCondition, describesDevice, isAlarmCondition, type Role } from "./roles.ts";

/** The entities of one thing. */
export interface Group {
  readonly listing: "thermostats" | "alarms" | "others";
  readonly kind: ThingKind;
  /** Its registry id is the thing's id. */
  readonly primary: Entity;
  readonly parts: Readonly<Partial<Record<Role, Entity>>>;
  /** What an alarm says of itself. */
  readonly conditions: readonly GroupCondition[];
  /** The device whose only thing it is: the device's name is its name. */
  readonly soleOf: string | null;
}

export interface GroupCondition {
  readonly condition: AlarmCondition;
  /** The half that the condition concerns; undefined: both. */
  readonly half: AlarmHalf | undefined;
  readonly entity: Entity;
}

export type AlarmHalf = "smoke" | "carbonMonoxide";

export interface RoledEntity {
  readonly entity: Entity;
  readonly role: Role;
}

/** All entities of a group. */
export function entitiesOf({ parts, conditions }: Group): readonly Entity[] {
  return [...Object.values(parts), ...conditions.map(({ entity }) => entity)];
}

/**
 * Groups entities to things. Primary entities are climate, fan, light, switch, smoke and CO; each is a thing of its own,
 * except that a climate absorbs the only fan of its device, unless it is a pump, and a smoke sensor a CO sensor of its
 * device. Battery and connectivity belong to all things of a device. Temperature and humidity belong to the only thing
 * of a device, or are a sensor of their own. A child device shares battery and connectivity of its parent, and one alarm
 * may have sensors of several children.
 */
export function groupEntities(entities: readonly RoledEntity[], { devices }: Registries): readonly Group[] {
  const families = new Map<string, RoledEntity[]>();
  for (const one of entities) {
    const { entity, role } = one;
    const isDiagnostic = entity.category !== null && !describesDevice(role);
    if (entity.isLeftOut || isDiagnostic || role === "person" || role === "zone") continue;
    const rootId = entity.deviceId === null ? undefined : devices.get(entity.deviceId)?.rootId;
    const key = rootId === undefined ? `entity ${entity.id}` : `device ${rootId}`;
    const known = families.get(key);
    if (known) known.push(one);
    else families.set(key, [one]);
  }
  return [...families.values()].flatMap((family) => groupsOfFamily(family, devices));
}

type MutableParts = Partial<Record<Role, Entity>>;
type Found = Pick<Group, "listing" | "kind" | "primary"> & { parts: MutableParts };

/** A family is a device with its child devices, or an entity without a device. */
function groupsOfFamily(family: readonly RoledEntity[], devices: Registries["devices"]): readonly Group[] {
  const { deviceId } = family[0]!.entity;
  const rootId = (deviceId === null ? undefined : devices.get(deviceId)?.rootId) ?? null;
  const byDevice = Map.groupBy(family, ({ entity }) => entity.deviceId);
  const [alarms, conditions] = [alarmsOf(family), conditionsIn(family)];
  const byGroup = [...byDevice].map(([id, entities]) => {
    const own = alarms.filter(({ primary }) => primary.deviceId === id);
    return [id, groupsOfDevice(entities, byDevice.get(rootId) ?? [], own)] as const;
  });
  const count = byGroup.reduce((sum, [, groups]) => sum + groups.length, 0);
  return byGroup.flatMap(([id, groups]) => {
    const soleOf = count === 1 ? rootId : groups.length === 1 ? id : null;
    return groups.map((group) => ({ ...group, conditions: conditionsOf(group, conditions, rootId, devices), soleOf }));
  });
}

function groupsOfDevice(
  entities: readonly RoledEntity[],
  parents: readonly RoledEntity[],
  alarms: readonly Found[],
): readonly Found[] {
  // Sorted by id, so that the same entities always form the same groups.
  const sorted = sortedById(entities);
  const of = (role: Role) => sorted.filter((one) => one.role === role).map(({ entity }) => entity);
  const shared: MutableParts = {};
  for (const role of ["batteryLow", "batteryLevel", "connectivity"] as const) {
    const first = of(role)[0] ?? sortedById(parents).find((one) => one.role === role)?.entity;
    if (first) shared[role] = first;
  }
  const [fans, pumps] = [of("fan"), of("pump")];
  // Of several fans, the instance does not tell which one blows for the climate.
  const isOnlyFan = fans.length === 1 && pumps.length === 0 && !hasPumpName(fans[0]!);
  const climateFans = isOnlyFan && of("climate").length > 0 ? fans.splice(0) : [];
  const found: Found[] = [];
  const add = (listing: Group["listing"], kind: ThingKind, primary: Entity, parts: MutableParts) =>
    found.push({ listing, kind, primary, parts: { ...shared, ...parts } });
  for (const climate of of("climate"))
    add("thermostats", "thermostat", climate, { climate, ...taken("fan", climateFans) });
  for (const { listing, kind, primary, parts } of alarms) add(listing, kind, primary, parts);
  for (const fan of [...fans, ...pumps]) add("others", "fan", fan, { fan });
  for (const light of of("light")) add("others", "light", light, { light });
  for (const one of of("switch")) add("others", "switch", one, { switch: one });
  addMeasured(found, shared, of("temperature"), of("humidity"));
  return found;
}

function sortedById(entities: readonly RoledEntity[]): readonly RoledEntity[] {
  return entities.toSorted((a, b) => (a.entity.id < b.entity.id ? -1 : 1));
}

type Fits = (smoke: Entity, carbonMonoxide: Entity) => boolean;

/** Which CO sensor a smoke sensor absorbs: the closest one first. */
const closeness: readonly Fits[] = [
  (smoke, co) => smoke.integration === co.integration && smoke.deviceId === co.deviceId,
  (smoke, co) => smoke.integration === co.integration,
  () => true,
];

/** The alarms of a family. Older sensors choose first: a new one takes nothing from them. */
function alarmsOf(family: readonly RoledEntity[]): readonly Found[] {
  const sorted = family.toSorted((a, b) => (a.entity.age < b.entity.age ? -1 : 1));
  const of = (role: AlarmHalf) => sorted.filter((one) => one.role === role).map(({ entity }) => entity);
  const free = new Set(of("carbonMonoxide"));
  const absorbed = new Map<Entity, Entity>();
  for (const fits of closeness) {
    for (const smoke of of("smoke")) {
      const carbonMonoxide = absorbed.has(smoke) ? undefined : [...free].find((co) => fits(smoke, co));
      if (carbonMonoxide && free.delete(carbonMonoxide)) absorbed.set(smoke, carbonMonoxide);
    }
  }
  const alarm = (primary: Entity, parts: MutableParts): Found => ({ listing: "alarms", kind: "alarm", primary, parts });
  return [
    ...of("smoke").map((smoke) => {
      const carbonMonoxide = absorbed.get(smoke);
      return alarm(smoke, { smoke, ...(carbonMonoxide && { carbonMonoxide }) });
    }),
    ...[...free].map((carbonMonoxide) => alarm(carbonMonoxide, { carbonMonoxide })),
  ];
}

/** More conditions of a device and its children are not read. */
const conditionsLimit = 50;

function conditionsIn(family: readonly RoledEntity[]): readonly Omit<GroupCondition, "half">[] {
  const found = family.flatMap(({ entity, role }) => (isAlarmCondition(role) ? [{ condition: role, entity }] : []));
  return found.slice(0, conditionsLimit);
}

/** What the devices of an alarm's sensors, and their parent, say of the alarm. */
function conditionsOf(
  { parts: { smoke, carbonMonoxide } }: Found,
  conditions: ReturnType<typeof conditionsIn>,
  rootId: string | null,
  devices: Registries["devices"],
): readonly GroupCondition[] {
  if (!smoke && !carbonMonoxide) return [];
  return conditions.flatMap((one) => {
    const { deviceId } = one.entity;
    const [isOfSmoke, isOfCo] = [smoke?.deviceId === deviceId, carbonMonoxide?.deviceId === deviceId];
    if (deviceId !== rootId && !isOfSmoke && !isOfCo) return [];
    if (deviceId !== rootId && isOfSmoke !== isOfCo) return [{ ...one, half: isOfSmoke ? "smoke" : "carbonMonoxide" }];
    return [{ ...one, half: namedHalf(one.entity, devices.get(deviceId ?? "")?.name ?? "") }];
  });
}

/** Some devices have an entity for each sensor, such as "Smoke test" and "CO test". */
function namedHalf({ originalName, translationKey }: Entity, deviceName: string): AlarmHalf | undefined {
  const words = `${(originalName ?? "").replace(deviceName, "")} ${translationKey ?? ""}`.replaceAll("_", " ");
  const [namesSmoke, namesCo] = [/smoke/i.test(words), /\bco\b|carbon|monoxide/i.test(words)];
  if (namesSmoke === namesCo) return undefined;
  return namesSmoke ? "smoke" : "carbonMonoxide";
}

/** Some integrations show a pump as a fan. The fan of a heat pump is a fan. */
function hasPumpName({ name, originalName, translationKey, entityId }: Entity): boolean {
  const names = [name, originalName, translationKey, entityId];
  return names.some((text) => text !== null && pump.test(text.replaceAll(heatPump, "")));
}

/** In English, German, Dutch, Swedish, French, Italian and Spanish. */
const pump = /pump|pomp|bomba/i;
const heatPump =
  /(heat|w[äa]e?rme|warmte|v[äa]rme)[\s_-]*p[uo]mp|pomp[ae][\s_](à|a|di)[\s_](chaleur|calore)|bomba[\s_]de[\s_]calor/gi;

/** Takes the first entity out of the list. */
function taken(role: Role, entities: Entity[]): MutableParts {
  const first = entities.shift();
  return first ? { [role]: first } : {};
}

function addMeasured(found: Found[], shared: MutableParts, temperatures: Entity[], humidities: Entity[]): void {
  const [sole] = found;
  if (found.length === 1) Object.assign(sole!.parts, taken("temperature", temperatures), taken("humidity", humidities));
  while (temperatures.length + humidities.length > 0) {
    const primary = (temperatures[0] ?? humidities[0])!;
    const parts = { ...shared, ...taken("temperature", temperatures), ...taken("humidity", humidities) };
    found.push({ listing: "others", kind: "sensor", primary, parts });
  }
}
