import type { Projection } from "../../runtime/json/projection.ts";
import type { Cancel, Timers } from "../../runtime/runtime.ts";
import type { StreamListener } from "../connector.ts";
import { attributesProjection } from "./entity-states.ts";
import { entitiesWithoutState, type HomeChange, InstanceHome, readConfig } from "./instance-home.ts";
import { knownEntities } from "./known-entities.ts";
import { readClasses, readRegistries, registryProjections } from "./registries.ts";
import { ReportedContexts } from "./reported-contexts.ts";
import type { Answer, Session } from "./session.ts";

/** While the instance starts, its settings are read again this often. */
const startingPauseMs = 5_000;

/** Registries often change several times in a row: they are read again together. */
const registryPauseMs = 200;
/** An instance that announces changes without end is read so rarely that this takes a hundredth of a core. */
const pausesPerLoad = 100;

/** Levels alone, such as a brightness, are reported this often. The first one is reported at once. */
const levelReportMs = 100;

/** More entities of an event are not read. */
const entitiesPerEvent = 10_000;

/** A state has far fewer attributes. */
const lostPerEntity = 1_000;

const readState: Projection = {
  pick: { s: true, a: attributesProjection, c: { object: { pick: { id: true } }, single: true } },
};
const readChange: Projection = {
  pick: { "+": readState, "-": { pick: { a: { each: true, limit: lostPerEntity } } } },
};

/** What is read of an event of `subscribe_entities`. */
export const entityEvent: Projection = {
  pick: {
    a: { members: readState, limit: entitiesPerEvent },
    c: { members: readChange, limit: entitiesPerEvent },
    r: { each: true, limit: entitiesPerEvent },
  },
};

/** Events after which the home is read again: names, rooms and entities, or the unit of temperatures have changed. */
const reloadEvents = [
  "entity_registry_updated",
  "device_registry_updated",
  "area_registry_updated",
  "core_config_updated",
];

export interface Followed {
  readonly listener: StreamListener;
  /** How often the instance is searched for entities that no registry announces. */
  readonly searchMs: number;
}

/** A session that follows an instance: it keeps the home up to date and reports it. */
export class LiveHome {
  readonly session: Session;
  readonly home = new InstanceHome();
  readonly #listener: StreamListener | undefined;
  readonly #contexts = new ReportedContexts();
  #subscription: number | undefined;
  readonly #timers: Timers;
  #reload: { readonly dueMs: number; readonly cancel: Cancel } | undefined;
  #search: Cancel | undefined;
  #isLoading = false;
  #knowsStored = false;
  /** A registry changed while the registries were being read. */
  #isOutdated = false;
  /** The least pause before the next load. */
  #loadPauseMs = registryPauseMs;
  /** CPU time of loads that the link has not paid for. */
  #loadCostMs = 0;
  /** Contexts of changes that are not reported yet. */
  #contextIds: string[] = [];
  /** Whether an event was taken since the last report. */
  #hasTaken = false;
  /** While it lasts, levels alone are not reported. */
  #levelPause: Cancel | undefined;

  /** Without `followed` the home is read once and not followed. */
  constructor(session: Session, timers: Timers, followed?: Followed) {
    this.session = session;
    this.#timers = timers;
    this.#listener = followed?.listener;
    if (followed) this.#searchLater(followed.searchMs);
    const { home } = this;
    home.reportNow = () => this.#report();
    session.observer = {
      ponged: () => {
        this.#report();
        if (home.home()) this.#listener?.unchanged();
      },
      isUrgent: (text) => home.mayAlarm(text),
      endTurn: () => this.#endTurn(),
      cpuShare: this.#listener?.cpuShare,
      takeCostMs: () => this.#takeLoadCostMs() + (this.#listener?.takeCostMs?.() ?? 0),
      slowed: (isSlowed) => this.#listener?.slowed?.(isSlowed),
    };
    void session.ended.then(() => {
      this.#reload?.cancel();
      this.#search?.();
      this.#levelPause?.();
      if (this.#hasTaken) this.#report();
    });
  }

  /** Reads the home, and follows it from then on. Resolves when the home was read or the session has ended. */
  async start(): Promise<void> {
    if (this.#listener) {
      for (const event_type of reloadEvents) {
        void this.session.subscribe("subscribe_events", { event_type }, () => {
          this.#loadSoon(registryPauseMs);
          return undefined;
        });
      }
    }
    await this.#load();
  }

  /** Whether a state with this context was reported to the listener. */
  hasShown(contextId: string): boolean {
    return this.#contexts.has(contextId);
  }

  /** Resolves when a state with this context was reported to the listener; undefined without a listener. */
  shown(contextId: string): Promise<void> | undefined {
    return this.#listener && this.#contexts.whenReported(contextId);
  }

  async #load(): Promise<void> {
    this.#isLoading = true;
    this.#isOutdated = false;
    const { session } = this;
    const { entities, devices, areas, config: settings, states } = registryProjections;
    const read = (type: string, large: Projection) => session.call(type, {}, { large });
    const answers = await Promise.all([
      read("config/entity_registry/list", entities),
      read("config/device_registry/list", devices),
      read("config/area_registry/list", areas),
      read("get_config", settings),
      read("get_states", states),
    ]);
    const startedMs = this.#timers.elapsedMs();
    const results = answers.map(resultOf);
    const registries = readRegistries(results[0], results[1], results[2]);
    const config = readConfig(results[3]);
    if (!registries || !config || !Array.isArray(results[4])) {
      const failed = answers.find((answer) => answer.state === "failed");
      return session.finish("refused", `the instance did not list its entities${failed ? ` (${failed.code})` : ""}`);
    }
    const readMs = this.#timers.elapsedMs() - startedMs;
    if (!config.isRunning) await this.#rememberStored();
    const classes = await this.#classesOf(entitiesWithoutState(registries, results[4]));
    const loadedMs = this.#timers.elapsedMs();
    const entityIds = this.home.load(registries, config, results[4], classes);
    const loadMs = readMs + this.#timers.elapsedMs() - loadedMs;
    this.#loadCostMs += loadMs;
    this.#loadPauseMs = Math.max(registryPauseMs, pausesPerLoad * loadMs);
    await this.#subscribe(entityIds);
    this.#isLoading = false;
    if (this.#isOutdated) this.#loadSoon(registryPauseMs);
    else if (!this.home.isRunning) this.#loadSoon(startingPauseMs);
  }

  /** While the instance starts, entities that it had before are missing. */
  async #rememberStored(): Promise<void> {
    const read = this.#knowsStored ? undefined : this.#listener?.storedThings;
    if (!read) return;
    try {
      this.home.remember(knownEntities(await read()));
      this.#knowsStored = true;
    } catch {
      this.session.finish("unreachable", "the stored things could not be read");
    }
  }

  /** The classes of entities without a state. The lists of the registries do not tell them. */
  async #classesOf(entityIds: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    if (entityIds.length === 0) return new Map();
    const fields = { entity_ids: entityIds };
    const answer = await this.session.call("config/entity_registry/get_entries", fields, {
      large: registryProjections.classes,
    });
    return readClasses(resultOf(answer));
  }

  /** Resolves when the first event of the subscription, which holds all states, was taken, or the session has ended. */
  async #subscribe(entityIds: readonly string[]): Promise<void> {
    const { session } = this;
    if (this.#subscription !== undefined) session.unsubscribe(this.#subscription);
    let isFirst = true;
    let listed: () => void = () => undefined;
    const isListed = new Promise<void>((resolve) => {
      listed = resolve;
    });
    const { home } = this;
    const take = function* (this: LiveHome, event: unknown) {
      this.#hasTaken = true;
      if (isFirst) {
        isFirst = false;
        this.#ignored(yield* home.list(event));
        this.#report();
        listed();
      } else this.#changed(yield* home.change(event));
    };
    const entities = { entity_ids: entityIds };
    const first = { beginsLarge: true, projection: entityEvent, ended: () => listed() };
    const answer = await session.subscribe("subscribe_entities", entities, take.bind(this), first);
    if (answer.state === "failed") session.finish("refused", `the instance sends no states (${answer.code})`);
    if (answer.state !== "succeeded") return;
    this.#subscription = answer.id;
    await isListed;
  }

  #changed({ hasRemoved, contextIds, ignoredCount }: HomeChange): void {
    // An entity was removed or renamed. The registries say which; until then its thing stays as it is.
    if (hasRemoved) this.#loadSoon(registryPauseMs);
    this.#ignored(ignoredCount);
    this.#contextIds.push(...contextIds);
    // The home may have been reported in the middle of the event, but not these contexts.
    this.#hasTaken = true;
  }

  #takeLoadCostMs(): number {
    const costMs = this.#loadCostMs;
    this.#loadCostMs = 0;
    return costMs;
  }

  #ignored(count: number): void {
    if (count > 0) this.session.limitReached("homeStateBytes");
  }

  #endTurn(): void {
    // In the middle of an event the home may have changed again since the last report.
    if (!this.#hasTaken && !this.home.hasChanged) return;
    if (this.#levelPause && this.home.hasOnlyLevels) return;
    this.#report();
    this.#levelPause ??= this.#timers.after(levelReportMs, () => {
      this.#levelPause = undefined;
      this.#endTurn();
    });
  }

  /** Reports the home as it is now, in the middle of a turn or at its end. */
  #report(): void {
    if (!this.#listener) return;
    this.#hasTaken = false;
    this.home.report(this.#listener);
    for (const contextId of this.#contextIds.splice(0)) this.#contexts.add(contextId);
  }

  #searchLater(searchMs: number): void {
    this.#search = this.#timers.after(searchMs, () => {
      this.#searchLater(searchMs);
      void this.#searchEntities();
    });
  }

  /** An entity without a registry entry appears without any event on this session. */
  async #searchEntities(): Promise<void> {
    const answer = await this.session.call("get_states", {}, { large: registryProjections.states });
    if (!this.#isLoading && this.home.lacksEntity(resultOf(answer))) this.#loadSoon(0);
  }

  #loadSoon(delayMs: number): void {
    if (this.#isLoading) {
      this.#isOutdated = true;
      return;
    }
    const pauseMs = Math.max(delayMs, this.#loadPauseMs);
    const dueMs = this.#timers.elapsedMs() + pauseMs;
    // A planned load is not postponed: an instance could announce changes without end.
    if (this.#reload && this.#reload.dueMs <= dueMs) return;
    this.#reload?.cancel();
    const cancel = this.#timers.after(pauseMs, () => {
      this.#reload = undefined;
      this.#load().catch((error) => this.session.finish("malformed", "the registries could not be taken", { error }));
    });
    this.#reload = { dueMs, cancel };
  }
}

function resultOf(answer: Answer): unknown {
  return answer.state === "succeeded" ? answer.result : undefined;
}
