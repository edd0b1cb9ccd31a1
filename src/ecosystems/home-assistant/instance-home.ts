import type { Home, Structure } from "../../home/home.ts";
import { idIn } from "../../home/reported-things.ts";
import { isJsonObject } from "../../runtime/json/untrusted-json.ts";
import type { StreamListener } from "../connector.ts";
import { textOf } from "../kit/document-values.ts";
import { WholeHome } from "../kit/whole-home.ts";
import { tellsFanSwitching } from "./domains/fan.ts";
import { presenceOf } from "./domains/presence.ts";
import { type TemperatureUnit, unitIn } from "./domains/values.ts";
import { EntityStates } from "./entity-states.ts";
import { entitiesOf, type Group, groupEntities, type RoledEntity } from "./grouping.ts";
import { type Entity, type Registries, unregistered } from "./registries.ts";
import { homeZone, type Role, roleOf } from "./roles.ts";
import { type ThingContext, thingOf } from "./things.ts";

/** What an event has changed. */
export interface HomeChange {
  readonly hasRemoved: boolean;
  /** The contexts of the changes. */
  readonly contextIds: readonly string[];
  /** How many entities were ignored. */
  readonly ignoredCount: number;
}

/** The instance's own settings. */
export interface InstanceConfig {
  readonly unit: TemperatureUnit;
  readonly locationName: string | null;
  readonly tellsFanSwitching: boolean;
  /** False while the instance starts: integrations are not loaded yet, and entities may be missing. */
  readonly isRunning: boolean;
}

/** Undefined when the answer is unusable. */
export function readConfig(result: unknown): InstanceConfig | undefined {
  if (!isJsonObject(result)) return undefined;
  const unit = isJsonObject(result.unit_system) ? unitIn(result.unit_system.temperature) : undefined;
  if (!unit) return undefined;
  return {
    unit,
    locationName: textOf(result.location_name),
    tellsFanSwitching: tellsFanSwitching(result.version),
    isRunning: result.state === "RUNNING",
  };
}

/**
 * An instance is one structure. It has no id of its own that a client can read, and its address may change, so the id
 * is the same for all instances. same-instance.ts tells them apart.
 */
const structureId = "home";

const kinds = ["structures", "thermostats", "alarms", "others"] as const;

/** Entities of one instance, of which at most 500 become things. */
const mostEntities = 5_000;
/** Characters that are compared in one search for sensors of danger. */
const mostSearched = 1_000_000;

/** The home of an instance: from registries, settings and states to structures and things. */
export class InstanceHome {
  readonly #whole = new WholeHome(kinds, { isSilentWithoutAlarms: true });
  readonly #states = new EntityStates();
  #groups: readonly Group[] = [];
  #groupsOf = new Map<string, Group[]>();
  /** The entity ids of all sensors of danger. */
  #alarmIds: readonly string[] = [];
  #persons: readonly Entity[] = [];
  #context: ThingContext | undefined;
  #config: InstanceConfig | undefined;
  /** The entities of before by their ids: of the last listing, and of the stored things. */
  #known: ReadonlyMap<string, RoledEntity> = new Map();
  /** The entity ids of these entities. */
  #entityIds: ReadonlySet<string> = new Set();

  get isRunning(): boolean {
    return this.#config?.isRunning === true;
  }

  get unit(): TemperatureUnit {
    return this.#config?.unit ?? "C";
  }

  get tellsFanSwitching(): boolean {
    return this.#config?.tellsFanSwitching === true;
  }

  readonly view = (entityId: string) => this.#states.view(entityId);

  /** Takes the entities of the stored things: what they are is not known while the instance starts. */
  remember(known: readonly RoledEntity[]): void {
    this.#known = new Map([...known.map((one) => [one.entity.id, one] as const), ...this.#known]);
  }

  /**
   * Takes registries, settings, all states (`get_states`), and the classes of registered entities without a state.
   * Returns the ids of the entities that are mirrored: only these are subscribed to.
   */
  load(
    registries: Registries,
    config: InstanceConfig,
    states: unknown,
    classes: ReadonlyMap<string, string | null> = new Map(),
  ): readonly string[] {
    const all = roledEntities(registries, states, classes, this.#known);
    this.#entityIds = new Set(all.map(({ entity }) => entity.entityId));
    const roled = mostImportant(all);
    this.#known = new Map(roled.map((one) => [one.entity.id, one]));
    this.#config = config;
    this.#groups = groupEntities(roled, registries);
    this.#alarmIds = this.#groups.flatMap(({ parts: { smoke, carbonMonoxide } }) =>
      [smoke, carbonMonoxide].flatMap((entity) => (entity ? [entity.entityId] : [])),
    );
    this.#persons = roled.flatMap(({ entity, role }) => (role === "person" && !entity.isLeftOut ? [entity] : []));
    const { unit, tellsFanSwitching } = config;
    this.#context = { ...namesOf(this.#groups, registries), structureId, unit, tellsFanSwitching, view: this.view };
    this.#groupsOf = new Map();
    const entities = new Map(this.#persons.map((entity) => [entity.entityId, entity]));
    for (const group of this.#groups) {
      for (const entity of entitiesOf(group)) {
        entities.set(entity.entityId, entity);
        const known = this.#groupsOf.get(entity.entityId);
        if (known) known.push(group);
        else this.#groupsOf.set(entity.entityId, [group]);
      }
    }
    this.#states.begin(entities);
    // The zone is always among them: an empty list would mean all entities.
    return [homeZone, ...entities.keys()];
  }

  /** Called when the home must be reported before the end of a turn. */
  set reportNow(reportNow: () => void) {
    this.#whole.reportNow = reportNow;
  }

  /**
   * Takes the first event of a subscription: all states. Things that are missing now are gone, if the instance runs.
   * Returns how many entities were ignored. Yields after each piece of the work, as `change` does.
   */
  *list(event: unknown): Generator<undefined, number> {
    const { ignoredCount } = yield* this.#states.apply(event);
    const isFirst = !this.#whole.isListed;
    const mayRemove = this.isRunning || isFirst;
    for (const kind of kinds) {
      if (mayRemove) this.#whole.beginListing(kind);
      if (kind === "structures") this.#whole.set(kind, structureId, this.#structure());
      else yield* this.#see(this.#groups.filter(({ listing }) => listing === kind));
      if (mayRemove) this.#whole.endListing(kind);
      if (!this.isRunning) this.#whole.lose(kind);
    }
    return ignoredCount;
  }

  /** Takes a further event. If it removes an entity, the registries must be read again. */
  *change(event: unknown): Generator<undefined, HomeChange> {
    const { changed, removed, ignoredCount } = yield* this.#states.apply(event);
    yield* this.#see(new Set(changed.flatMap((entityId) => this.#groupsOf.get(entityId) ?? [])));
    if (changed.some((entityId) => entityId === homeZone || entityId.startsWith("person."))) {
      this.#whole.set("structures", structureId, this.#structure());
    }
    const contextIds = changed.flatMap((entityId) => this.view(entityId).contextId ?? []);
    return { hasRemoved: removed.length > 0, contextIds, ignoredCount };
  }

  /** Whether these states (`get_states`) have an entity with a role that the last listing did not have. */
  lacksEntity(states: unknown): boolean {
    return statesIn(states).some(
      ({ entityId, deviceClass }) => roleOf(entityId, deviceClass) !== undefined && !this.#entityIds.has(entityId),
    );
  }

  /** Whether anything has changed since the last report. */
  get hasChanged(): boolean {
    return this.#whole.hasChanged;
  }

  /** Whether nothing but levels has changed since the last report. */
  get hasOnlyLevels(): boolean {
    return this.#whole.hasOnlyLevels;
  }

  /** The home; undefined before the first listing. */
  home(): Home | undefined {
    return this.#whole.home();
  }

  report(listener: Pick<StreamListener, "home" | "unchanged">): void {
    this.#whole.report(listener);
  }

  /** The entities of the thing with this key. */
  groupOf(key: string): Group | undefined {
    const id = idIn(key);
    return this.#groups.find(({ primary }) => primary.id === id);
  }

  /** Whether an event may be about a sensor of danger. */
  mayAlarm(text: string): boolean {
    // Searching would take longer than parsing.
    if (text.length * this.#alarmIds.length > mostSearched) return true;
    return this.#alarmIds.some((entityId) => text.includes(entityId));
  }

  *#see(groups: Iterable<Group>): Generator<undefined> {
    for (const group of groups) {
      if (!this.#exists(group.primary)) continue;
      this.#whole.set(group.listing, group.primary.id, thingOf(group, this.#context!));
      yield;
    }
  }

  /** An entity without a registry entry exists as long as it has a state. While the instance starts, it may get one. */
  #exists({ entityId, isRegistered }: Entity): boolean {
    return isRegistered || !this.isRunning || this.#states.has(entityId);
  }

  #structure(): Structure {
    const persons = this.#persons.map(({ entityId }) => this.view(entityId));
    const presence = presenceOf(persons, this.view(homeZone));
    return { name: this.#config?.locationName ?? null, listsDevices: true, presence };
  }
}

/** The devices and areas that the things are named after: the others are not kept. */
function namesOf(groups: readonly Group[], { devices, areas }: Registries): Pick<ThingContext, "devices" | "areas"> {
  const deviceIds = new Set(groups.flatMap(({ primary, soleOf }) => [primary.deviceId, soleOf]));
  const used = new Map([...devices].filter(([id]) => deviceIds.has(id)));
  const areaIds = new Set([
    ...groups.map(({ primary }) => primary.areaId),
    ...[...used.values()].map((one) => one.areaId),
  ]);
  return { devices: used, areas: new Map([...areas].filter(([id]) => areaIds.has(id))) };
}

/** Of an instance with too many entities, sensors of danger come first, then thermostats and persons. */
function mostImportant(entities: readonly RoledEntity[]): readonly RoledEntity[] {
  if (entities.length <= mostEntities) return entities;
  const rankOf = ({ role }: RoledEntity) => {
    if (role === "smoke" || role === "carbonMonoxide") return 0;
    return role === "climate" || role === "person" || role === "zone" ? 1 : 2;
  };
  return entities.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, mostEntities);
}

/** Registered sensors without a state, as long as their integrations are not loaded: the registry knows their classes. */
export function entitiesWithoutState({ entities }: Registries, states: unknown): readonly string[] {
  const present = new Set(statesIn(states).map(({ entityId }) => entityId));
  const missing = [...entities.values()].filter(({ entityId, isLeftOut }) => !isLeftOut && !present.has(entityId));
  const ofDomain = (domain: string) => missing.filter(({ entityId }) => entityId.startsWith(`${domain}.`));
  const sensors = [...ofDomain("binary_sensor"), ...ofDomain("sensor")];
  return sensors.slice(0, mostEntities).map(({ entityId }) => entityId);
}

/**
 * The entities that have a role. The class that a state tells comes first. A registered entity without a state, whose
 * integration does not run, has the class of its registry entry: it is gone only when that entry is. A known entity
 * without a registry entry stays among them, so that its return is seen at once.
 */
function roledEntities(
  { entities }: Registries,
  states: unknown,
  classes: ReadonlyMap<string, string | null>,
  known: ReadonlyMap<string, RoledEntity>,
): readonly RoledEntity[] {
  const roled = new Map<string, RoledEntity>();
  const seen = new Set<string>();
  const add = (entity: Entity, role: Role | undefined) => {
    seen.add(entity.entityId);
    if (role) roled.set(entity.entityId, { entity, role });
  };
  for (const { entityId, deviceClass } of statesIn(states)) {
    const entity = entities.get(entityId) ?? unregistered(entityId);
    add(entity, roleOf(entityId, deviceClass, entity.translationKey));
  }
  for (const entity of entities.values()) {
    const { id, entityId, translationKey } = entity;
    if (seen.has(entityId)) continue;
    const role = roleOf(entityId, classes.get(entityId), translationKey);
    add(entity, role ?? (classes.has(entityId) ? undefined : known.get(id)?.role));
  }
  for (const { entity, role } of known.values()) {
    if (!entity.isRegistered && !seen.has(entity.entityId)) add(entity, role);
  }
  return [...roled.values()];
}

/** The entities of `get_states`, each with its class. Malformed entries are left out. */
function statesIn(states: unknown): readonly { readonly entityId: string; readonly deviceClass: unknown }[] {
  return (Array.isArray(states) ? states : []).flatMap((state) => {
    if (!isJsonObject(state) || typeof state.entity_id !== "string" || state.entity_id.length > 255) return [];
    const deviceClass = isJsonObject(state.attributes) ? state.attributes.device_class : undefined;
    return [{ entityId: state.entity_id, deviceClass }];
  });
}
