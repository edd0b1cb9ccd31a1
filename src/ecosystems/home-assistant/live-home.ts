import type { Cancel, Timers } from "../../runtime/runtime.ts";
import type { StreamListener } from "../connector.ts";
import { InstanceHome, readConfig } from "./instance-home.ts";
import { readRegistries } from "./registries.ts";
import { ReportedContexts } from "./reported-contexts.ts";
import type { Answer, Session } from "./session.ts";

/** While the instance starts, its settings are read again this often. */
const startingPauseMs = 5_000;

/** Registries often change several times in a row: wait for the last change before reading them again. */
const registryPauseMs = 200;

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
  #reload: Cancel | undefined;
  #search: Cancel | undefined;
  #isLoading = false;
  /** A registry changed while the registries were being read. */
  #isOutdated = false;

  /** Without `followed` the home is read once and not followed. */
  constructor(session: Session, timers: Timers, followed?: Followed) {
    this.session = session;
    this.#timers = timers;
    this.#listener = followed?.listener;
    if (followed) this.#searchLater(followed.searchMs);
    const { home } = this;
    session.isUrgent = (text) => home.mayAlarm(text);
    session.ponged = () => {
      if (this.home.home()) this.#listener?.unchanged();
    };
    void session.ended.then(() => {
      this.#reload?.();
      this.#search?.();
    });
  }

  /** Reads the home, and follows it from then on. Resolves when the home was read or the session has ended. */
  async start(): Promise<void> {
    if (this.#listener) {
      for (const event_type of reloadEvents) {
        void this.session.subscribe("subscribe_events", { event_type }, () => this.#loadSoon(registryPauseMs));
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
    const read = (type: string) => session.call(type, {}, { isLarge: true });
    const answers = await Promise.all([
      read("config/entity_registry/list"),
      read("config/device_registry/list"),
      read("config/area_registry/list"),
      read("get_config"),
      read("get_states"),
    ]);
    const results = answers.map(resultOf);
    const registries = readRegistries(results[0], results[1], results[2]);
    const config = readConfig(results[3]);
    if (!registries || !config || !Array.isArray(results[4])) {
      const failed = answers.find((answer) => answer.state === "failed");
      return session.finish("refused", `the instance did not list its entities${failed ? ` (${failed.code})` : ""}`);
    }
    await this.#subscribe(this.home.load(registries, config, results[4]));
    this.#isLoading = false;
    if (this.#isOutdated) this.#loadSoon(registryPauseMs);
    else if (!this.home.isRunning) this.#loadSoon(startingPauseMs);
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
    const take = (event: unknown) => {
      if (isFirst) this.#list(event);
      else this.#change(event);
      isFirst = false;
      listed();
    };
    const entities = { entity_ids: entityIds };
    const first = { beginsLarge: true, ended: () => listed() };
    const answer = await session.subscribe("subscribe_entities", entities, take, first);
    if (answer.state === "failed") session.finish("refused", `the instance sends no states (${answer.code})`);
    if (answer.state !== "succeeded") return;
    this.#subscription = answer.id;
    await isListed;
  }

  #list(event: unknown): void {
    this.home.list(event);
    if (this.#listener) this.home.report(this.#listener);
  }

  #change(event: unknown): void {
    const { hasRemoved, contextIds } = this.home.change(event);
    // An entity was removed or renamed. The registries say which; until then its thing stays as it is.
    if (hasRemoved) this.#loadSoon(registryPauseMs);
    if (!this.#listener) return;
    this.home.report(this.#listener);
    for (const contextId of contextIds) this.#contexts.add(contextId);
  }

  #searchLater(searchMs: number): void {
    this.#search = this.#timers.after(searchMs, () => {
      this.#searchLater(searchMs);
      void this.#searchEntities();
    });
  }

  /** An entity without a registry entry appears without any event on this session. */
  async #searchEntities(): Promise<void> {
    const answer = await this.session.call("get_states", {}, { isLarge: true });
    if (!this.#isLoading && this.home.lacksEntity(resultOf(answer))) this.#loadSoon(0);
  }

  #loadSoon(delayMs: number): void {
    if (this.#isLoading) this.#isOutdated = true;
    else {
      this.#reload?.();
      this.#reload = this.#timers.after(delayMs, () => {
        this.#load().catch((error) => this.session.finish("malformed", "the registries could not be taken", { error }));
      });
    }
  }
}

function resultOf(answer: Answer): unknown {
  return answer.state === "succeeded" ? answer.result : undefined;
}
