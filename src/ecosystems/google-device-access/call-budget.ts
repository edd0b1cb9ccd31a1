import { pause, type Runtime } from "../../runtime/runtime.ts";
import type { RateLimit } from "./limits.ts";

/** Google counts a call when it arrives, which is later than when Breezeway counts it. */
const marginMs = 1_000;
/** Bound on memory: keys without a recent call are forgotten when there are more. */
const maximalKeys = 20_000;

/** Counts the calls of each key, so that no call exceeds a rate limit of the ecosystem (sliding windows). */
export class CallBudget {
  readonly #limits: readonly RateLimit[];
  readonly #runtime: Pick<Runtime, "elapsedMs">;
  /** The times of the calls of each key, oldest first. */
  readonly #calls = new Map<string, number[]>();

  constructor(limits: readonly RateLimit[], runtime: Pick<Runtime, "elapsedMs">) {
    this.#limits = limits.map(({ calls, perMs }) => ({ calls, perMs: perMs + marginMs }));
    this.#runtime = runtime;
  }

  /** How long to wait until this number of calls is allowed; 0: now. */
  waitMs(key: string, calls = 1): number {
    const nowMs = this.#runtime.elapsedMs();
    const made = this.#calls.get(key) ?? [];
    const waits = this.#limits.map(({ calls: most, perMs }) => {
      // The call that must be out of the window before the new ones are within the limit.
      const blocking = made.at(-(most - Math.min(calls, most) + 1));
      return blocking === undefined ? 0 : blocking + perMs - nowMs;
    });
    return Math.max(0, ...waits);
  }

  take(key: string, calls = 1): void {
    const nowMs = this.#runtime.elapsedMs();
    const longestMs = Math.max(...this.#limits.map(({ perMs }) => perMs));
    const recent = (this.#calls.get(key) ?? []).filter((atMs) => atMs > nowMs - longestMs);
    for (let i = 0; i < calls; i++) recent.push(nowMs);
    // The oldest keys come first.
    this.#calls.delete(key);
    this.#calls.set(key, recent);
    if (this.#calls.size > maximalKeys) this.#forget(nowMs - longestMs);
  }

  #forget(beforeMs: number): void {
    for (const [key, made] of this.#calls) {
      if ((made.at(-1) ?? 0) > beforeMs) return;
      this.#calls.delete(key);
    }
  }
}

/** Takes calls from the budget as soon as they are allowed. False when that would take too long, or was aborted. */
export async function admit(
  budget: CallBudget,
  key: string,
  calls: number,
  { runtime, patienceMs, signal }: { runtime: Runtime; patienceMs: number; signal: AbortSignal },
): Promise<boolean> {
  const untilMs = runtime.elapsedMs() + patienceMs;
  for (;;) {
    if (signal.aborted) return false;
    const waitMs = budget.waitMs(key, calls);
    if (waitMs <= 0) break;
    if (runtime.elapsedMs() + waitMs > untilMs) return false;
    await pause(runtime, waitMs, signal);
  }
  budget.take(key, calls);
  return true;
}
