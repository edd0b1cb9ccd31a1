import type { PoolUse, Store, StoreHealth, Transaction } from "../store/seam.ts";
import type { Registry } from "./registry.ts";

/** Sources of the metrics that are read when they are collected. An unknown figure is left out. */
export interface Sources {
  readonly store: Pick<Store<Pick<Transaction, "log">>, "read"> & {
    health(): Promise<StoreHealth>;
    size(): Promise<number>;
    pools(): readonly PoolUse[];
  };
  /**
   * The links that this node follows, by state, those that may be stale, those that a fault has paused, by cause, and those
   * that are read more slowly.
   */
  readonly links: () => {
    readonly byState: Readonly<Record<string, number>>;
    readonly stale: number;
    readonly paused: Readonly<Record<string, number>>;
    readonly slowed: number;
  };
  readonly eventReaders: () => number;
  readonly deliveries: () => Promise<{ readonly waiting: number; readonly lagMs: number }>;
  /** The file system of the data folder. */
  readonly disk: () => Promise<{ readonly freeBytes: number; readonly totalBytes: number }>;
  /** When the last backup was taken; undefined when there was none. */
  readonly lastBackupMs: () => Promise<number | undefined>;
}

/** Part of the help text of each figure that is read from the shared store. */
const coversAllNodes = "Covers all nodes: each shows the same figure, so don't add them up.";

export function watch(registry: Registry, sources: Sources): void {
  const health = singleFlight(() => sources.store.health());
  watchPools(registry, sources, health);
  const deliveries = singleFlight(sources.deliveries);
  watchLinks(registry, sources);
  watchStore(registry, sources, health);
  registry.gauge("breezeway_event_readers", "Open streams of events.", sources.eventReaders);
  registry.gauge(
    "breezeway_events_held_back_seconds",
    `The age of the oldest event that is committed but not sent, because a transaction of the database is still open. ${coversAllNodes}`,
    () => sources.store.read((tx) => tx.log.hiddenForMs()).then((ms) => ms / 1000, unknown),
  );
  registry.gauge("breezeway_webhook_waiting", `Deliveries to webhooks that wait, up to 100000. ${coversAllNodes}`, () =>
    deliveries().then(({ waiting }) => waiting, unknown),
  );
  registry.gauge(
    "breezeway_webhook_lag_seconds",
    `How long the oldest due delivery has been due. ${coversAllNodes}`,
    () => deliveries().then(({ lagMs }) => lagMs / 1000, unknown),
  );
}

function watchLinks(registry: Registry, { links }: Sources): void {
  registry.gauge("breezeway_links", "Links that this node follows, by state.", () =>
    Object.entries(links().byState).map(([state, count]) => [{ state }, count] as const),
  );
  registry.gauge("breezeway_links_stale", "Links of this node whose values may be stale.", () => links().stale);
  registry.gauge("breezeway_links_paused", "Links of this node that a fault has paused, by cause.", () =>
    Object.entries(links().paused).map(([cause, count]) => [{ cause }, count] as const),
  );
  registry.gauge(
    "breezeway_links_slowed",
    "Links of this node that are read more slowly, because they took more than their share of CPU.",
    () => links().slowed,
  );
}

/** Registered before all gauges that read the store, so that these figures don't include the collector's own reads. */
function watchPools(registry: Registry, { store }: Sources, health: Sources["store"]["health"]): void {
  registry.gauge(
    "breezeway_store_waiting",
    "Transactions of this node that wait for the store.",
    () => waitingIn(store.pools()) ?? health().then(({ waiting }) => waiting, unknown),
  );
  registry.gauge(
    "breezeway_store_connections",
    "Connections of this node to PostgreSQL, by pool and by what they do.",
    () =>
      store
        .pools()
        .flatMap(({ pool, inUse, idle }) => [
          [{ pool, state: "in_use" }, inUse] as const,
          [{ pool, state: "idle" }, idle] as const,
        ]),
  );
  registry.gauge("breezeway_store_connections_max", "How many connections each pool of this node may open.", () =>
    store.pools().map(({ pool, most }) => [{ pool }, most] as const),
  );
  registry.gauge("breezeway_store_connections_waiting", "Transactions that wait for a connection, by pool.", () =>
    store.pools().map(({ pool, waiting }) => [{ pool }, waiting] as const),
  );
}

function watchStore(
  registry: Registry,
  { store, lastBackupMs, ...sources }: Sources,
  health: Sources["store"]["health"],
): void {
  const disk = singleFlight(sources.disk);
  registry.gauge("breezeway_store_up", "Whether the store answers and can be written.", () =>
    health().then(
      () => 1,
      () => 0,
    ),
  );
  registry.gauge("breezeway_store_bytes", `How large the store is. ${coversAllNodes}`, () =>
    store.size().catch(unknown),
  );
  registry.gauge("breezeway_data_free_bytes", "Free bytes on the file system of the data folder.", () =>
    disk().then(({ freeBytes }) => freeBytes, unknown),
  );
  registry.gauge("breezeway_data_size_bytes", "Size of the file system of the data folder.", () =>
    disk().then(({ totalBytes }) => totalBytes, unknown),
  );
  registry.gauge(
    "breezeway_last_backup_timestamp_seconds",
    `When the last backup that succeeded was taken; 0 when none is known. ${coversAllNodes}`,
    () => lastBackupMs().then((ms) => (ms ?? 0) / 1000, unknown),
  );
}

const unknown = () => undefined;

/** Undefined where there are no pools. */
function waitingIn(pools: readonly PoolUse[]): number | undefined {
  return pools.length === 0 ? undefined : pools.reduce((sum, { waiting }) => sum + waiting, 0);
}

/** Single-flight: several figures of one read share it. */
function singleFlight<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => {
    running ??= read().finally(() => {
      running = undefined;
    });
    return running;
  };
}
