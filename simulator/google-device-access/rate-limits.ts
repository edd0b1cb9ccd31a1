import { Refused } from "./refused.ts";

export interface RateLimit {
  readonly calls: number;
  readonly perMs: number;
}

/** Google's published limits for a sandbox project, for one user. */
export const publishedLimits: Readonly<Record<CallKind, readonly RateLimit[]>> = {
  list: [{ calls: 5, perMs: 60_000 }],
  get: [{ calls: 10, perMs: 60_000 }],
  execute: [{ calls: 10, perMs: 60_000 }],
  device: [
    { calls: 5, perMs: 60_000 },
    { calls: 100, perMs: 3_600_000 },
  ],
};

/** `device`: commands to one thermostat. */
export type CallKind = "list" | "get" | "execute" | "device";

/** Counts calls in sliding windows and refuses those beyond a limit. */
export class RateLimits {
  limits = publishedLimits;
  /** How many calls were answered, by kind. */
  readonly taken: Record<CallKind, number> = { list: 0, get: 0, execute: 0, device: 0 };
  /** How many calls were refused, by kind. */
  readonly refused: Record<CallKind, number> = { list: 0, get: 0, execute: 0, device: 0 };
  readonly #calls = new Map<string, number[]>();

  take(kind: CallKind, key: string, nowMs: number): void {
    const made = this.#calls.get(`${kind} ${key}`) ?? [];
    for (const { calls, perMs } of this.limits[kind]) {
      if (made.filter((atMs) => atMs > nowMs - perMs).length < calls) continue;
      this.refused[kind] += 1;
      throw new Refused(429, "RESOURCE_EXHAUSTED", `Rate limited for the ${kind} calls of this user.`);
    }
    this.taken[kind] += 1;
    const longestMs = Math.max(...this.limits[kind].map(({ perMs }) => perMs));
    this.#calls.set(`${kind} ${key}`, [...made.filter((atMs) => atMs > nowMs - longestMs), nowMs]);
  }
}
