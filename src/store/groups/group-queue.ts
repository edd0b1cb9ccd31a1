import { OutcomeUnknown } from "../../model/errors.ts";
import type { UserId } from "../../model/ids.ts";
import type { Transaction } from "../seam.ts";
import type { GroupTables, GroupWrites } from "./group-tables.ts";
import { Member } from "./member.ts";
import { SharedReads } from "./shared-reads.ts";

/** The largest number of transactions in a group. It bounds how long one group keeps its users locked. */
export const mostMembers = 64;

type Body = (tx: Transaction) => Promise<unknown>;

/** A transaction that waits for the next group, or runs in one. */
interface Job {
  readonly userId: UserId;
  readonly body: Body;
  readonly becomesUrgent: AbortSignal | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupQueueParts {
  /** Runs the work in one transaction, perhaps several times; resolves when it is durable. */
  readonly together: (work: (tables: GroupTables) => Promise<void>) => Promise<void>;
  /** Runs the body in a transaction of its own. */
  readonly alone: <Result>(body: (tx: Transaction) => Promise<Result>, becomesUrgent?: AbortSignal) => Promise<Result>;
  /** Called after each COMMIT of a group with the number of its members. An error in it does not stop the queue. */
  readonly committed: (members: number) => void;
}

/**
 * Group commit: transactions of different users share one transaction of the database. One group runs at a time. What
 * arrives meanwhile is the next group, so a group grows with the load, and without load it has one member.
 *
 * A body runs in a group only as far as it succeeds there. When it throws or does what groups can't do, it runs again in
 * a transaction of its own, and that one decides. When a statement of the group fails, all its members do so. So a
 * member that fails does not harm the others, and all errors are those of single transactions. Only a lost answer to
 * COMMIT is reported to all members of the group: their outcome is unknown.
 */
export class GroupQueue {
  readonly #parts: GroupQueueParts;
  readonly #waiting = new Set<Job>();
  #isRunning = false;

  constructor(parts: GroupQueueParts) {
    this.#parts = parts;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  add<Result>(
    userId: UserId,
    body: (tx: Transaction) => Promise<Result>,
    becomesUrgent: AbortSignal | undefined,
  ): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const job: Job = { userId, body, becomesUrgent, resolve: resolve as (value: unknown) => void, reject };
      this.#waiting.add(job);
      if (becomesUrgent) void this.#leaveWhenUrgent(job, becomesUrgent);
      if (!this.#isRunning) void this.#run();
    });
  }

  /** An urgent transaction never waits for a group. Does nothing when the job is in a group that has begun. */
  async #leaveWhenUrgent(job: Job, becomesUrgent: AbortSignal): Promise<void> {
    // A promise, so that the transaction runs in this asynchronous context and not in that of the abort.
    await new Promise<void>((resolve) => becomesUrgent.addEventListener("abort", () => resolve(), { once: true }));
    if (this.#waiting.delete(job)) this.#runAlone(job);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#waiting.size > 0) await this.#runGroup();
    } finally {
      // After an error of `committed`, those that wait need the next run. The error reaches the process as any other.
      this.#isRunning = false;
      if (this.#waiting.size > 0) void this.#run();
    }
  }

  /** The longest-waiting jobs, at most one of each user. */
  #nextGroup(): readonly Job[] {
    const group = new Map<UserId, Job>();
    for (const job of this.#waiting) {
      if (group.size === mostMembers) break;
      if (group.has(job.userId)) continue;
      group.set(job.userId, job);
      this.#waiting.delete(job);
    }
    return [...group.values()];
  }

  async #runGroup(): Promise<void> {
    // Chosen when the transaction begins: until then a job can become urgent and leave.
    let jobs: readonly Job[] | undefined;
    let results = new Map<Job, unknown>();
    try {
      await this.#parts.together(async (tables) => {
        jobs ??= this.#nextGroup();
        results = await runMembers(jobs, tables);
      });
    } catch (error) {
      if (!jobs) this.#rejectAll(error);
      for (const job of jobs ?? []) {
        if (error instanceof OutcomeUnknown && results.has(job)) job.reject(error);
        else this.#runAlone(job);
      }
      return;
    }
    for (const job of jobs ?? []) {
      if (results.has(job)) job.resolve(results.get(job));
      else this.#runAlone(job);
    }
    if (results.size > 0) this.#parts.committed(results.size);
  }

  /** There is no connection: nothing was changed, and the next group would fare no better. */
  #rejectAll(error: unknown): void {
    const jobs = [...this.#waiting];
    this.#waiting.clear();
    for (const { reject } of jobs) reject(error);
  }

  #runAlone({ body, becomesUrgent, resolve, reject }: Job): void {
    this.#parts.alone(body, becomesUrgent).then(resolve, reject);
  }
}

/** Runs the bodies side by side and writes what those have collected that stayed in the group. Returns their results. */
async function runMembers(jobs: readonly Job[], tables: GroupTables): Promise<Map<Job, unknown>> {
  const reads = new SharedReads(tables);
  const results = new Map<Job, unknown>();
  const writes: GroupWrites[] = [];
  await Promise.all(
    jobs.map(async (job) => {
      const member = new Member(job.userId, reads, tables);
      try {
        const result = await job.body(member.transaction());
        if (!member.writes) return;
        results.set(job, result);
        writes.push(member.writes);
      } catch {
        // It runs again in a transaction of its own, which reports its error.
      }
    }),
  );
  await tables.write({
    attributes: writes.flatMap(({ attributes }) => attributes),
    things: writes.flatMap(({ things }) => things),
    states: writes.flatMap(({ states }) => states),
    times: writes.flatMap(({ times }) => times),
    log: writes.flatMap(({ log }) => log),
  });
  return results;
}
