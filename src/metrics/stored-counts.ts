import { BackgroundTask } from "../runtime/background-task.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import type { OpenStore, Transaction } from "../store/seam.ts";
import { type HourlyCounts, type HourlySnapshot, hourMs, hours } from "./hourly-counts.ts";

/** Counts of the last 24 hours by name, the present hour last. */
export type CountsByName = Readonly<Record<string, readonly number[]>>;

export interface StoredCounts {
  /** When the first node that stores its counts began to count. */
  readonly sinceMs: number;
  readonly counts: CountsByName;
}

/** The stored text: counts by hour since 1970, then by name. */
interface StoredText {
  readonly sinceMs: number;
  readonly hours: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const settingName = "hourly_counts";
const saveEveryMs = 10_000;

/** The hourly counts that all nodes have stored; undefined before a node has. */
export async function readStoredCounts(tx: Pick<Transaction, "settings" | "clock">): Promise<StoredCounts | undefined> {
  const [text, nowMs] = await Promise.all([tx.settings.get(settingName), tx.clock.nowMs()]);
  if (text === undefined) return undefined;
  const stored = JSON.parse(text) as StoredText;
  const firstHour = Math.floor(nowMs / hourMs) - hours + 1;
  const present = Array.from({ length: hours }, (_, place) => stored.hours[firstHour + place] ?? {});
  const names = new Set(present.flatMap((counts) => Object.keys(counts)));
  const counts = [...names].map((name) => [name, present.map((counts) => counts[name] ?? 0)] as const);
  return { sinceMs: stored.sinceMs, counts: Object.fromEntries(counts) };
}

/** Adds this node's hourly counts to those in the store, every 10 seconds and when the node stops. */
export class CountStorage {
  readonly #store: OpenStore;
  readonly #counts: HourlyCounts;
  readonly #runtime: Runtime;
  readonly #task: BackgroundTask;
  #saved: HourlySnapshot | undefined;
  #next: Cancel | undefined;
  #saving: Promise<void> | undefined;
  #isStopped = false;

  constructor(store: OpenStore, counts: HourlyCounts, runtime: Runtime) {
    this.#store = store;
    this.#counts = counts;
    this.#runtime = runtime;
    this.#task = new BackgroundTask("hourly_counts", "hourly counts could not be stored", runtime);
  }

  /** What the store does not have yet. */
  unsaved(): CountsByName {
    return difference(this.#counts.snapshot(), this.#saved);
  }

  start(): void {
    this.#next = this.#runtime.after(saveEveryMs, () => {
      this.#saving = this.save().finally(() => {
        if (!this.#isStopped) this.start();
      });
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#next?.();
    await this.#saving;
    await this.save();
  }

  async save(): Promise<void> {
    const snapshot = this.#counts.snapshot();
    const added = difference(snapshot, this.#saved);
    if (Object.keys(added).length === 0) return;
    try {
      await this.#store.transaction((tx) => this.#add(tx, added), { background: true });
      this.#saved = snapshot;
      this.#task.succeeded();
    } catch (error) {
      this.#task.failed(error);
    }
  }

  async #add(tx: Pick<Transaction, "settings" | "clock">, added: CountsByName): Promise<void> {
    const nothing: StoredText = { sinceMs: this.#counts.sinceMs, hours: {} };
    const stored = JSON.parse(await tx.settings.lock(settingName, JSON.stringify(nothing))) as StoredText;
    const firstHour = Math.floor((await tx.clock.nowMs()) / hourMs) - hours + 1;
    const kept = Array.from({ length: hours }, (_, place) => {
      const counts = { ...stored.hours[firstHour + place] };
      for (const [name, buckets] of Object.entries(added)) {
        if (buckets[place]! > 0) counts[name] = (counts[name] ?? 0) + buckets[place]!;
      }
      return [firstHour + place, counts] as const;
    });
    const filled = kept.filter(([, counts]) => Object.keys(counts).length > 0);
    await tx.settings.set(settingName, JSON.stringify({ ...stored, hours: Object.fromEntries(filled) }));
  }
}

/** What was counted between two snapshots, without names that were not. */
function difference(snapshot: HourlySnapshot, earlier: HourlySnapshot | undefined): CountsByName {
  const passed = earlier ? snapshot.hour - earlier.hour : 0;
  const changed = Object.entries(snapshot.counts).flatMap(([name, buckets]) => {
    const known = earlier?.counts[name];
    const added = buckets.map((count, place) => count - (known?.[place + passed] ?? 0));
    return added.some((count) => count > 0) ? [[name, added] as const] : [];
  });
  return Object.fromEntries(changed);
}
