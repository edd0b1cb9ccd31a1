import { type FairQueue, oneAtATime } from "./fair-queue.ts";
import type { Runtime } from "./runtime.ts";

/** How long work runs in one turn of the event loop; the last piece of it may take longer. */
export const sliceMs = 5;

/** Whose turn it is. */
export interface TurnOwner {
  /** A tenant, an operator, or the address of a caller without credentials. */
  readonly tenant: string;
  /** A user or client of the tenant, or the tenant itself. */
  readonly holder: string;
}

export interface TimeSlicesParts {
  /** Lets the event loop serve others. */
  readonly turn: () => Promise<void>;
  readonly runtime: Pick<Runtime, "elapsedMs">;
  /** True while work waits that goes before the next slice, for one turn. */
  readonly hasUrgentWork?: () => boolean;
}

/**
 * Runs tasks one at a time, in time slices with a turn of the event loop in between. Tenants take turns, and within a
 * tenant its holders (round robin): a task waits for at most one task of each other tenant.
 */
export class TimeSlices {
  readonly #parts: TimeSlicesParts;
  readonly #tenants = oneAtATime();
  /** The queues of tenants with tasks. Each passes one task at a time on to `#tenants`. */
  readonly #holders = new Map<string, FairQueue>();
  /** The end of the present slice; undefined until work begins in this turn. */
  #endMs: number | undefined;
  /** Resolves in the turn after the present slice. */
  #nextTurn = Promise.resolve();

  constructor(parts: TimeSlicesParts) {
    this.#parts = parts;
  }

  async run<Result>({ tenant, holder }: TurnOwner, task: () => Result | Promise<Result>): Promise<Result> {
    const holders = this.#holders.get(tenant) ?? oneAtATime();
    this.#holders.set(tenant, holders);
    const inSlice = async () => {
      await this.wait();
      return task();
    };
    try {
      return await holders.run(holder, () => this.#tenants.run(tenant, inSlice));
    } finally {
      if (holders.isIdle && this.#holders.get(tenant) === holders) this.#holders.delete(tenant);
    }
  }

  /** For a running task, between two pieces of its work: undefined while the slice lasts, otherwise the next slice. */
  wait(): Promise<void> | undefined {
    return this.#isOver() ? this.#nextSlice() : undefined;
  }

  async #nextSlice(): Promise<void> {
    const { turn, hasUrgentWork } = this.#parts;
    do {
      await this.#nextTurn;
      if (hasUrgentWork?.()) await turn();
    } while (this.#isOver());
  }

  #isOver(): boolean {
    const nowMs = this.#parts.runtime.elapsedMs();
    if (this.#endMs === undefined) {
      this.#endMs = nowMs + sliceMs;
      this.#nextTurn = this.#parts.turn().then(() => {
        this.#endMs = undefined;
      });
    }
    return nowMs >= this.#endMs;
  }
}
