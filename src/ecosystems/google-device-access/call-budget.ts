import { pause, type Runtime } from "../../runtime/runtime.ts";
import { callWaitMs, type RateLimit } from "../kit/call-window.ts";

/** Bound on memory: keys without a recent call are forgotten when there are more. */
const maximalKeys = 20_000;

/** Counts this node's calls of each key, so that no call exceeds a rate limit of the ecosystem (sliding windows). */
export class CallBudget {
  readonly #limits: readonly RateLimit[];
  readonly #runtime: Pick<Runtime, "elapsedMs">;
  /** The times of the calls of each key, oldest first. */
  readonly #calls = new Map<string, number[]>();

  constructor(limits: readonly RateLimit[], runtime: Pick<Runtime, "elapsedMs">) {
    this.#limits = limits;
    this.#runtime = runtime;
  }

  /** How long to wait until this number of calls is allowed; 0: now. */
  waitMs(key: string, calls = 1): number {
    return callWaitMs(this.#limits, this.#calls.get(key) ?? [], calls, this.#runtime.elapsedMs());
  }

  /** Takes the calls if they are allowed. Returns 0 then, else how long to wait. */
  tryTake(key: string, calls: number): number {
    const waitMs = this.waitMs(key, calls);
    if (waitMs === 0) this.take(key, calls);
    return waitMs;
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

/** Waits until `take` returns 0. False when that would take too long, or was aborted. */
export async function admit(
  take: () => Promise<number>,
  { runtime, patienceMs, signal }: { runtime: Runtime; patienceMs: number; signal: AbortSignal },
): Promise<boolean> {
  const untilMs = runtime.elapsedMs() + patienceMs;
  while (!signal.aborted) {
    const waitMs = await take();
    if (waitMs <= 0) return true;
    if (runtime.elapsedMs() + waitMs > untilMs) return false;
    await pause(runtime, waitMs, signal);
  }
  return false;
}
