import { StoreUnavailable } from "../../../src/model/errors.ts";
import type { Store } from "../../../src/store/seam.ts";
import type { Claim } from "../checks/history.ts";
import type { Clock } from "../clocks.ts";
import type { Faults } from "../faults.ts";
import type { Scheduler } from "../scheduler.ts";
import type { StoreClient } from "./memory-store.ts";
import { type Session, type SimulatedTables, tablesOn } from "./memory-tables.ts";
import { type Database, Draft } from "./rows.ts";

interface Job {
  readonly claim: Claim | null;
  readonly isUrgent: boolean;
  readonly body: (tx: SimulatedTables) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface QueuedStoreParts {
  readonly database: Database;
  readonly client: StoreClient;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly clock: Clock;
  /** A power failure while the group is committed. */
  readonly crash: () => void;
}

/**
 * A single-process store with the behaviour of SQLite: bodies run one after another, a group of them is committed
 * together and answered after that, and when its COMMIT fails the whole group fails.
 */
export class QueuedStore implements Store<SimulatedTables> {
  readonly isShared = false;
  readonly #parts: QueuedStoreParts;
  readonly #jobs: Job[] = [];
  #isScheduled = false;

  constructor(parts: QueuedStoreParts) {
    this.#parts = parts;
  }

  transaction<Result>(
    body: (tx: SimulatedTables) => Promise<Result>,
    options: { readonly urgent?: boolean } = {},
  ): Promise<Result> {
    const { claim } = this.#parts.client;
    return new Promise<Result>((resolve, reject) => {
      const isUrgent = options.urgent ?? false;
      this.#jobs.push({ claim, isUrgent, body, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  read<Result>(body: (tx: SimulatedTables) => Promise<Result>): Promise<Result> {
    const { scheduler, client, database } = this.#parts;
    return new Promise<Result>((resolve, reject) => {
      scheduler.after(scheduler.dice.next(), client, "read", () => {
        const answer = body(tablesOn(this.#session(new Draft(database.snapshot()))));
        // A read is consistent, but may be answered late: sometimes a commit overtakes it.
        const isSlow = scheduler.dice.chance(0.3);
        answer.then((result) => {
          if (isSlow) scheduler.after(scheduler.dice.between(0, 30), client, "read answered", () => resolve(result));
          else resolve(result);
        }, reject);
      });
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const { scheduler, client, faults } = this.#parts;
    const isSlow = faults.strikes("store slow", 0.12);
    scheduler.after(scheduler.dice.between(0, isSlow ? 3_000 : 20), client, "group", () => void this.#runGroup());
  }

  async #runGroup(): Promise<void> {
    const { database, faults, client, scheduler, crash } = this.#parts;
    const group = new Draft(database);
    const done: { readonly draft: Draft; readonly claim: Claim | null }[] = [];
    // A refusal waits for the commit too: it may depend on writes of another body of the group.
    const answers: { readonly job: Job; readonly answer: () => void }[] = [];
    for (let most = scheduler.dice.between(1, 12); most > 0 && this.#jobs.length > 0; most--) {
      const job = this.#next();
      const draft = new Draft(group);
      try {
        const value = await job.body(tablesOn(this.#session(draft)));
        group.absorb(draft);
        done.push({ draft, claim: job.claim });
        answers.push({ job, answer: () => job.resolve(value) });
      } catch (error) {
        answers.push({ job, answer: () => job.reject(error) });
      }
    }
    this.#isScheduled = false;
    if (this.#jobs.length > 0) this.#schedule();

    const hasFailed = faults.strikes("group failed", 0.01);
    const isCut = !hasFailed && faults.strikes("crash at commit", 0.004);
    const isDurable = !hasFailed && (!isCut || scheduler.dice.chance(0.5));
    for (const { draft, claim } of isDurable ? done : []) {
      database.apply(draft, { node: client.name, claim, atMs: scheduler.nowMs });
    }
    if (isCut) return crash();
    for (const { job, answer } of answers) {
      if (hasFailed) job.reject(new StoreUnavailable("The store can't write now (disk full); nothing was changed."));
      else answer();
    }
  }

  #next(): Job {
    const urgent = this.#jobs.findIndex(({ isUrgent }) => isUrgent);
    return this.#jobs.splice(Math.max(0, urgent), 1)[0]!;
  }

  /** Runs within one turn, as calls to SQLite do. */
  #session(draft: Draft): Session {
    const { clock, database } = this.#parts;
    return {
      run: async (_, act) => act(draft),
      tryLock: () => true,
      nowMs: clock.nowMs,
      nextId: () => database.nextId(),
      nextPosition: () => ({ transaction: 0, id: database.nextId() }),
      seenBefore: () => Number.POSITIVE_INFINITY,
      hint: () => undefined,
      isPresent: () => true,
      upMs: () => Number.POSITIVE_INFINITY,
    };
  }
}
