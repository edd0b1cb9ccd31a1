import type { Dice } from "../dice.ts";

/** An entity of an instance. The targets of thermostats only rise, so that an older one can be told from a newer one. */
export interface InstanceEntity {
  /** The id of its registry entry. */
  readonly id: string;
  readonly kind: "climate" | "smoke";
  state: string;
  target: number;
  isAvailable: boolean;
}

/** An event of a subscription to states: added, changed and removed entities. */
interface StatesEvent {
  readonly a?: Readonly<Record<string, object>>;
  readonly c?: Readonly<Record<string, object>>;
  readonly r?: readonly string[];
}

export interface EntityChange {
  readonly event: StatesEvent;
  /** Whether the registry has changed too. */
  readonly isRegistry: boolean;
}

const mostEntities = 5;

/** The entities of an instance and their changes. */
export class InstanceEntities {
  readonly all = new Map<string, InstanceEntity>();
  readonly #dice: Dice;
  #changes = 0;

  constructor(dice: Dice) {
    this.#dice = dice;
    this.#add("climate");
    this.#add("smoke");
  }

  change(): EntityChange {
    const what = this.#dice.weighted({ target: 8, state: 6, available: 5, add: 1, remove: 1 });
    if (what === "add" && this.all.size < mostEntities) {
      this.#add(this.#dice.pick(["climate", "smoke"] as const));
      return { event: {}, isRegistry: true };
    }
    const [entityId, entity] = this.#dice.pick([...this.all]);
    // The last wish of an honest home needs a thermostat and an alarm.
    const isLastOfItsKind = [...this.all.values()].filter(({ kind }) => kind === entity.kind).length === 1;
    if (what === "remove" && !isLastOfItsKind) {
      this.all.delete(entityId);
      return { event: { r: [entityId] }, isRegistry: true };
    }
    if (what === "available") entity.isAvailable = !entity.isAvailable;
    else if (entity.kind === "smoke") entity.state = entity.state === "on" ? "off" : "on";
    else if (what === "state") entity.state = entity.state === "heat" ? "off" : "heat";
    else entity.target = this.#nextTarget();
    return { event: { c: { [entityId]: difference(entity) } }, isRegistry: false };
  }

  /** Last changes, one for each thermostat. */
  settle(): readonly EntityChange[] {
    return [...this.all].flatMap(([entityId, entity]) => {
      if (entity.kind !== "climate") return [];
      entity.target = this.#nextTarget();
      return [{ event: { c: { [entityId]: difference(entity) } }, isRegistry: false }];
    });
  }

  /** Undefined when there is no such thermostat. */
  setMode(entityId: string, mode: string): EntityChange | undefined {
    const entity = this.all.get(entityId);
    if (entity?.kind !== "climate") return undefined;
    entity.state = mode;
    return { event: { c: { [entityId]: difference(entity) } }, isRegistry: false };
  }

  /** A smoke alarm starts or stops, and everything is available. */
  sound(): EntityChange {
    for (const entity of this.all.values()) entity.isAvailable = true;
    const alarm = [...this.all.values()].find(({ kind }) => kind === "smoke");
    if (alarm) alarm.state = alarm.state === "on" ? "off" : "on";
    const all = [...this.all].map(([entityId, entity]) => [entityId, difference(entity)]);
    return { event: { c: Object.fromEntries(all) }, isRegistry: false };
  }

  /** The first event of a subscription. */
  listed(entityIds: readonly string[], isStarting: boolean): StatesEvent {
    const known = [...this.all].filter(([entityId]) => entityIds.includes(entityId));
    return { a: Object.fromEntries(known.map(([entityId, entity]) => [entityId, compressed(entity, isStarting)])) };
  }

  /** All entities tell their states, after a start. */
  recovered(): StatesEvent {
    const all = [...this.all].map(([entityId, entity]) => [
      entityId,
      { ...difference(entity), "-": { a: ["restored"] } },
    ]);
    return { c: Object.fromEntries(all) };
  }

  /** What a subscription to these entities is told; undefined for nothing. */
  narrowed({ c = {}, r = [] }: StatesEvent, entityIds: readonly string[]): StatesEvent | undefined {
    const changed = Object.entries(c).filter(([entityId]) => entityIds.includes(entityId));
    const removed = r.filter((entityId) => entityIds.includes(entityId));
    if (changed.length === 0 && removed.length === 0) return undefined;
    return { c: Object.fromEntries(changed), r: removed };
  }

  states(isStarting: boolean): readonly object[] {
    return [...this.all].map(([entity_id, entity]) => {
      const { s, a } = compressed(entity, isStarting);
      return { entity_id, state: s, attributes: a };
    });
  }

  registry(): readonly object[] {
    return [...this.all].map(([entity_id, { id }]) => ({ id, entity_id }));
  }

  #add(kind: InstanceEntity["kind"]): void {
    const number = ++this.#changes;
    const entityId = `${kind === "climate" ? "climate" : "binary_sensor"}.e${number}`;
    const state = kind === "climate" ? "heat" : "off";
    this.all.set(entityId, { id: `r${number}`, kind, state, target: this.#nextTarget(), isAvailable: true });
  }

  #nextTarget(): number {
    this.#changes += 1;
    return Math.round((10 + this.#changes * 0.01) * 100) / 100;
  }
}

/** A starting instance shows what it remembers, as not available. */
function compressed({ kind, state, target, isAvailable }: InstanceEntity, isStarting = false) {
  const isShown = isAvailable && !isStarting;
  const a = {
    ...(kind === "smoke" && { device_class: "smoke" }),
    ...(kind === "climate" &&
      isShown && { temperature: target, min_temp: 5, max_temp: 60, hvac_modes: ["heat", "off"] }),
    ...(isStarting && { restored: true }),
  };
  return { s: isShown ? state : "unavailable", a };
}

function difference(entity: InstanceEntity): object {
  return { "+": compressed(entity) };
}
