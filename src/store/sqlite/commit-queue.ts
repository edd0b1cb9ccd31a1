import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { StoreUnavailable } from "../../model/errors.ts";
import type { Priority } from "../seam.ts";
import type { Connection } from "./connection.ts";
import { failedCommit, isSqliteFailure, unavailable } from "./errors.ts";

/**
 * Limits of a commit group. A group gathers bodies for about as long as its sync will take, so that syncing is at most
 * half of the work. After each slice the event loop runs: readers, timers, and transactions that became urgent.
 */
const groupLimits = {
  bodies: 512,
  sliceMs: 8,
  /** How long a group waits for further jobs before its first body runs. */
  longestStartDelayMs: 20,
  /** How long a group runs bodies, those that are added meanwhile too, before its COMMIT. */
  longestGatherMs: 100,
};

interface Job {
  readonly body: () => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The queue of all writers (group commit). Bodies run one at a time, each in its own savepoint: savepoints of interleaved
 * bodies would lose acknowledged work. A group of bodies shares one COMMIT with a full sync, and all callers get their
 * results after it. Urgent bodies run before all others and close their group at once.
 */
export class CommitQueue {
  readonly #connection: Connection;
  readonly #onCommit: (transactions: number, syncMs: number) => void;
  readonly #urgent: Job[] = [];
  readonly #soon: Job[] = [];
  readonly #ordinary: Job[] = [];
  readonly #drainWaiters: (() => void)[] = [];
  readonly #holdWaiters: (() => void)[] = [];
  /** A group runs or is about to, or `hold` does its work. */
  #isBusy = false;
  #timer: NodeJS.Timeout | undefined;
  #lastSyncMs = 0;

  constructor(connection: Connection, onCommit: (transactions: number, syncMs: number) => void = () => undefined) {
    this.#connection = connection;
    this.#onCommit = onCommit;
  }

  get waiting(): number {
    return this.#urgent.length + this.#soon.length + this.#ordinary.length;
  }

  get hasUrgent(): boolean {
    return this.#urgent.length > 0;
  }

  get lastSyncMs(): number {
    return this.#lastSyncMs;
  }

  add<Result>(
    body: () => Promise<Result>,
    { urgent = false, soon = false, becomesUrgent }: Priority = {},
  ): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      // A group runs in the asynchronous context of the caller that started it, each body in that of its own caller.
      const job: Job = { body: AsyncLocalStorage.bind(body), resolve: resolve as (value: unknown) => void, reject };
      const isUrgent = urgent || (becomesUrgent?.aborted ?? false);
      (isUrgent ? this.#urgent : soon ? this.#soon : this.#ordinary).push(job);
      if (!isUrgent) becomesUrgent?.addEventListener("abort", () => this.#makeUrgent(job), { once: true });
      this.#schedule(isUrgent);
    });
  }

  /** Resolves when the queue is empty and no group runs. */
  async drained(): Promise<void> {
    while (this.#isBusy || this.waiting > 0) await new Promise<void>((resolve) => this.#drainWaiters.push(resolve));
  }

  /** Runs the work between two groups. All writers wait until it is done. */
  async hold<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.#holdWaiters.push(resolve));
    else {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#isBusy = true;
    }
    try {
      return await work();
    } finally {
      this.#continue();
    }
  }

  /** Does nothing when the job has started, or waits among the `soon` jobs: they run before all ordinary ones anyway. */
  #makeUrgent(job: Job): void {
    const index = this.#ordinary.indexOf(job);
    if (index < 0) return;
    this.#ordinary.splice(index, 1);
    this.#urgent.push(job);
    this.#schedule(true);
  }

  /**
   * Starts the next group: at once for urgent jobs and fast disks, otherwise after about the time of the last sync. On a
   * slow disk more bodies then share one sync.
   */
  #schedule(urgent: boolean): void {
    if (this.#isBusy) return;
    if (urgent || this.#lastSyncMs < 1) {
      clearTimeout(this.#timer);
      this.#isBusy = true;
      setImmediate(() => this.#drain());
    } else {
      this.#timer ??= setTimeout(
        () => {
          this.#isBusy = true;
          void this.#drain();
        },
        Math.min(this.#lastSyncMs, groupLimits.longestStartDelayMs),
      );
    }
  }

  async #drain(): Promise<void> {
    this.#timer = undefined;
    try {
      await this.#runGroup();
    } finally {
      // After an error of `onCommit` too: the error reaches the process, and other writers go on.
      this.#continue();
    }
  }

  /** Starts what comes next: a waiting `hold`, or the next group. */
  #continue(): void {
    const holder = this.#holdWaiters.shift();
    if (holder) {
      holder();
      return;
    }
    this.#isBusy = false;
    if (this.waiting > 0) this.#schedule(this.#urgent.length > 0);
    else for (const resolve of this.#drainWaiters.splice(0)) resolve();
  }

  async #runGroup(): Promise<void> {
    // Errors wait for the COMMIT too: a body may have failed because of another body's write in the same group.
    const answers: { readonly job: Job; readonly answer: () => void }[] = [];
    const failGroup = (reason: StoreUnavailable) => {
      this.#rollBack();
      for (const { job } of answers.splice(0)) job.reject(reason);
    };
    const startedMs = performance.now();
    const gatherMs = Math.min(Math.max(this.#lastSyncMs, groupLimits.sliceMs), groupLimits.longestGatherMs);
    let sliceEndsMs = startedMs + groupLimits.sliceMs;
    try {
      this.#connection.run("BEGIN IMMEDIATE");
    } catch (error) {
      const job = this.#next();
      return job?.reject(unavailable(error));
    }
    for (let bodies = 0; bodies < groupLimits.bodies; bodies++) {
      const hasUrgent = this.#urgent.length > 0;
      const job = this.#next();
      if (!job) break;
      try {
        this.#connection.run("SAVEPOINT body");
        const value = await job.body();
        this.#connection.run("RELEASE body");
        answers.push({ job, answer: () => job.resolve(value) });
      } catch (error) {
        const isUndone = this.#undoBody();
        answers.push({ job, answer: () => job.reject(isSqliteFailure(error) ? unavailable(error) : error) });
        // A full disk can roll back the whole transaction. Then the earlier bodies of the group have failed too.
        if (!isUndone) return failGroup(unavailable(error));
      }
      if (hasUrgent && this.#urgent.length === 0) break;
      const nowMs = performance.now();
      if (nowMs - startedMs > gatherMs) break;
      if (nowMs < sliceEndsMs) continue;
      await nextTurn();
      sliceEndsMs = performance.now() + groupLimits.sliceMs;
    }
    const syncStartedMs = performance.now();
    try {
      this.#connection.run("COMMIT");
    } catch (error) {
      return failGroup(failedCommit(error));
    }
    this.#lastSyncMs = performance.now() - syncStartedMs;
    for (const { answer } of answers) answer();
    this.#onCommit(answers.length, this.#lastSyncMs);
  }

  #next(): Job | undefined {
    return this.#urgent.shift() ?? this.#soon.shift() ?? this.#ordinary.shift();
  }

  #undoBody(): boolean {
    if (!this.#connection.database.isTransaction) return false;
    try {
      this.#connection.run("ROLLBACK TO body");
      this.#connection.run("RELEASE body");
      return true;
    } catch {
      return false;
    }
  }

  #rollBack(): void {
    if (!this.#connection.database.isTransaction) return;
    try {
      this.#connection.run("ROLLBACK");
    } catch {
      // The transaction has ended in any case. The next group's BEGIN fails if the disk still does.
    }
  }
}
