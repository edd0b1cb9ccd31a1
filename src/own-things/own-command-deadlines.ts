import type { CommitTables } from "../devices/commit.ts";
import { StoreUnavailable } from "../model/errors.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import type { ThingCommandRow } from "../store/tables/thing-commands.ts";
import { commandedThing } from "./commanded-thing.ts";
import { settleDue } from "./own-command-outcome.ts";
import type { OwnThings } from "./own-things.ts";

export interface OwnCommandDeadlineParts {
  readonly store: Store<CommitTables>;
  readonly ownThings: OwnThings;
  readonly runtime: Runtime;
}

const everyMs = 1_000;
const atOnce = 100;
/** A clock that was set back by less is none: it delays a deadline by no more than this. */
const setBackMs = 1_000;
/** A command that can't be settled is tried again after these times. */
const backOff = { fromMs: 2_000, toMs: 300_000 };
/** Failing commands whose back-off is remembered; beyond it the oldest are tried again at once. */
const failuresHeld = 10_000;

/** Settles the commands to own things that no write has settled by their deadline. Every node looks for them. */
export class OwnCommandDeadlines {
  readonly #parts: OwnCommandDeadlineParts;
  readonly #task: BackgroundTask;
  /** Commands that could not be settled, by id: when each is tried again, on this node's monotonic clock. */
  readonly #failing = new Map<number, { readonly nextMs: number; readonly pauseMs: number }>();
  /** By how much the store's clock was ahead of this node's monotonic clock in the last round. */
  #clockAheadMs = Number.POSITIVE_INFINITY;
  #isRunning = false;
  #next: Cancel | undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(parts: OwnCommandDeadlineParts) {
    this.#parts = parts;
    this.#task = new BackgroundTask("own_commands", "commands to own things could not be settled", parts.runtime);
  }

  start(): void {
    this.#isRunning = true;
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#next?.();
    await this.#round;
  }

  /** Settles what is due now. A command that fails leaves the others alone, and is tried again after a growing pause. */
  async settleDue(): Promise<void> {
    const { store } = this.#parts;
    let after: ThingCommandRow | undefined;
    let failed = 0;
    do {
      const { nowMs, due } = await store.read(async (tx) => {
        const nowMs = await tx.clock.nowMs();
        return { nowMs, due: await tx.thingCommands.due(nowMs, atOnce, after) };
      });
      if (!after) failed += await this.#settleAhead(nowMs);
      for (const row of due) if (!(await this.#tryOne(row))) failed += 1;
      after = due.length < atOnce ? undefined : due.at(-1);
    } while (after);
    if (failed > 0) return;
    this.#failing.clear();
    this.#task.succeeded();
  }

  /**
   * Settles what was sent before the clock was set back: its deadline may be far away, and equal commands would join it
   * until then. Returns how many failed.
   */
  async #settleAhead(nowMs: number): Promise<number> {
    const { store, runtime } = this.#parts;
    const clockAheadMs = nowMs - runtime.elapsedMs();
    let failed = 0;
    if (clockAheadMs < this.#clockAheadMs - setBackMs) {
      let due: readonly ThingCommandRow[];
      let afterId = 0;
      do {
        due = await store.read((tx) => tx.thingCommands.ownAhead(nowMs + setBackMs, atOnce, afterId));
        for (const row of due) if (!(await this.#tryOne(row))) failed += 1;
        afterId = due.at(-1)?.id ?? 0;
      } while (due.length === atOnce);
    }
    if (failed === 0) this.#clockAheadMs = clockAheadMs;
    return failed;
  }

  /** Returns whether the command is settled. */
  async #tryOne(row: ThingCommandRow): Promise<boolean> {
    const nowMs = this.#parts.runtime.elapsedMs();
    const before = this.#failing.get(row.id);
    if (before && nowMs < before.nextMs) return false;
    this.#failing.delete(row.id);
    try {
      await this.#settleOne(row);
      return true;
    } catch (error) {
      // It concerns every command: the next round tries all of them.
      if (error instanceof StoreUnavailable) throw error;
      this.#task.failed(error, { userId: row.userId, deviceId: row.deviceId, command: row.id });
      const pauseMs = Math.min(backOff.toMs, before ? 2 * before.pauseMs : backOff.fromMs);
      this.#failing.set(row.id, { nextMs: nowMs + pauseMs, pauseMs });
      const [oldest] = this.#failing.keys();
      if (oldest !== undefined && this.#failing.size > failuresHeld) this.#failing.delete(oldest);
      return false;
    }
  }

  async #settleOne({ userId, deviceId, id }: ThingCommandRow): Promise<void> {
    const { store, ownThings } = this.#parts;
    await store.transaction(async (tx) => {
      const nowMs = await tx.users.lock(userId);
      const row = nowMs === undefined ? undefined : await tx.thingCommands.find(userId, deviceId, id);
      // A write, or another node, has settled it meanwhile.
      if (nowMs === undefined || row?.state !== "sending") return;
      await settleDue(tx, await commandedThing(tx, ownThings, userId, deviceId), row, nowMs);
    });
  }

  #schedule(): void {
    this.#next = this.#parts.runtime.after(everyMs, () => {
      this.#round = this.settleDue()
        .catch((error) => this.#task.failed(error))
        .then(() => {
          if (this.#isRunning) this.#schedule();
        });
    });
  }
}
