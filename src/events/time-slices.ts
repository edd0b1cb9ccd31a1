import { outsideRequests, type Runtime } from "../runtime/runtime.ts";

/** How long tasks run in one turn of the event loop; the last task may take longer. */
export const sliceMs = 5;

export interface TimeSlicesParts {
  /** Lets the event loop serve others. */
  readonly turn: () => Promise<void>;
  readonly runtime: Pick<Runtime, "elapsedMs" | "outsideRequests">;
}

/**
 * Runs the short tasks of many streams in time slices, one in each turn of the event loop. One page of the log may be
 * for thousands of streams: making the bytes of all of them in one turn would block all other callers for seconds.
 * Tenants take turns (round-robin).
 */
export class TimeSlices {
  readonly #parts: TimeSlicesParts;
  /** Waiting tasks by tenant. The tenant that comes first in the map has the next turn. No list is empty. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isRunning = false;

  constructor(parts: TimeSlicesParts) {
    this.#parts = parts;
  }

  run<Result>(tenant: string, task: () => Result): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const ofTenant = this.#waiting.get(tenant) ?? [];
    ofTenant.push(() => {
      try {
        resolve(task());
      } catch (error) {
        reject(error);
      }
    });
    this.#waiting.set(tenant, ofTenant);
    if (!this.#isRunning) void outsideRequests(this.#parts.runtime, () => this.#work());
    return promise;
  }

  async #work(): Promise<void> {
    const { turn, runtime } = this.#parts;
    this.#isRunning = true;
    while (this.#waiting.size > 0) {
      await turn();
      const endMs = runtime.elapsedMs() + sliceMs;
      do this.#runNext();
      while (this.#waiting.size > 0 && runtime.elapsedMs() < endMs);
    }
    this.#isRunning = false;
  }

  #runNext(): void {
    const [tenant, ofTenant] = this.#waiting.entries().next().value!;
    const task = ofTenant.shift()!;
    // Round robin: the tenant moves to the end.
    this.#waiting.delete(tenant);
    if (ofTenant.length > 0) this.#waiting.set(tenant, ofTenant);
    task();
  }
}
