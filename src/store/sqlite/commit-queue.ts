import { setImmediate as nextTurn } from "node:timers/promises";
import type { StoreUnavailable } from "../../model/errors.ts";
import type { Priority } from "../seam.ts";
import type { Connection } from "./connection.ts";
import { failedCommit, isTrouble, unavailable } from "./errors.ts";

/**
 * A group gathers for as long as its sync will take, so that the disk is never the larger part of the work; after each
 * slice of that, readers, timers and what has become urgent get their turn.
 */
const groupLimits = { bodies: 512, sliceMs: 8, longestGatherMs: 100, longestWindowMs: 20 };

interface Job {
  readonly body: () => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * All writers in one line. Bodies run one at a time, each in a savepoint of its own; a group of them shares one COMMIT
 * with a full sync, and nobody is answered before it. (Savepoints of two interleaved bodies would lose acknowledged
 * work.) Urgent bodies go before all that wait and close their group at once, whether they came so or became so.
 */
export class CommitQueue {
  readonly #connection: Connection;
  readonly #grouped: (transactions: number, syncMs: number) => void;
  readonly #urgent: Job[] = [];
  readonly #soon: Job[] = [];
  readonly #ordinary: Job[] = [];
  readonly #idle: (() => void)[] = [];
  readonly #holders: (() => void)[] = [];
  #isDraining = false;
  #timer: NodeJS.Timeout | undefined;
  #lastSyncMs = 0;

  constructor(connection: Connection, grouped: (transactions: number, syncMs: number) => void = () => undefined) {
    this.#connection = connection;
    this.#grouped = grouped;
  }

  get waiting(): number {
    return this.#urgent.length + this.#soon.length + this.#ordinary.length;
  }

  get lastSyncMs(): number {
    return this.#lastSyncMs;
  }

  add<Result>(body: () => Promise<Result>, { urgent = false, soon = false, hurry }: Priority = {}): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const job: Job = { body, resolve: resolve as (value: unknown) => void, reject };
      const isUrgent = urgent || (hurry?.aborted ?? false);
      (isUrgent ? this.#urgent : soon ? this.#soon : this.#ordinary).push(job);
      if (!isUrgent) hurry?.addEventListener("abort", () => this.#hurry(job), { once: true });
      this.#schedule(isUrgent);
    });
  }

  /** Resolves when all that was added has been answered. */
  async drained(): Promise<void> {
    while (this.#isDraining || this.waiting > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Keeps all writers waiting, between two groups, while the work is done. */
  async hold<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isDraining) await new Promise<void>((resolve) => this.#holders.push(resolve));
    else {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#isDraining = true;
    }
    try {
      return await work();
    } finally {
      this.#goOn();
    }
  }

  /** Nothing to do when it isn't waiting any more. */
  #hurry(job: Job): void {
    const place = this.#ordinary.indexOf(job);
    if (place < 0) return;
    this.#ordinary.splice(place, 1);
    this.#urgent.push(job);
    this.#schedule(true);
  }

  /**
   * The window grows with the last sync: on a disk that takes long, more bodies share it, and the process isn't spent
   * waiting for it. What is urgent opens it at once.
   */
  #schedule(urgent: boolean): void {
    if (this.#isDraining) return;
    if (urgent || this.#lastSyncMs < 1) {
      clearTimeout(this.#timer);
      this.#isDraining = true;
      setImmediate(() => this.#drain());
    } else {
      this.#timer ??= setTimeout(
        () => {
          this.#isDraining = true;
          void this.#drain();
        },
        Math.min(this.#lastSyncMs, groupLimits.longestWindowMs),
      );
    }
  }

  async #drain(): Promise<void> {
    this.#timer = undefined;
    await this.#runGroup();
    this.#goOn();
  }

  /** Lets the next one in: who holds the queue, or the next group. */
  #goOn(): void {
    const holder = this.#holders.shift();
    if (holder) {
      holder();
      return;
    }
    this.#isDraining = false;
    if (this.waiting > 0) this.#schedule(this.#urgent.length > 0);
    else for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #runGroup(): Promise<void> {
    // A refusal waits for the COMMIT like an acceptance: it may rest on what another of the group has written.
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
        answers.push({ job, answer: () => job.reject(isTrouble(error) ? unavailable(error) : error) });
        // A full disk can end the whole transaction: then those before it have lost their work too.
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
    this.#grouped(answers.length, this.#lastSyncMs);
    for (const { answer } of answers) answer();
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
      // The transaction is over either way; BEGIN of the next group tells whether the disk is back.
    }
  }
}
