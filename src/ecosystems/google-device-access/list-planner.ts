import type { Cancel, Runtime } from "../../runtime/runtime.ts";

/**
 * `doubts`: the order of events and the last list is not known. `devices`: without the structures, which costs one call
 * less. Each includes those before it.
 */
const neededLists = ["none", "doubts", "devices", "all"] as const;

export type NeededList = (typeof neededLists)[number];

/** `failed`: it is tried again. `over`: the account is no longer followed. */
export type ListOutcome = "listed" | "failed" | "over";

export interface ListPlannerParts {
  readonly runtime: Runtime;
  /** How often an account is listed although no event calls for it. */
  readonly relistMs: number;
  /** Lists the account. `isCheck`: no event called for it. Never rejects. */
  readonly list: (needed: Exclude<NeededList, "none">, isCheck: boolean) => Promise<ListOutcome>;
}

/** Events often come in groups: the list that settles them waits a moment. */
const settleMs = 1_000;
const retry = { fromMs: 5_000, toMs: 300_000 };

/** Decides when an account is listed again. One list runs at a time, and requests for the next one are joined. */
export class ListPlanner {
  readonly #parts: ListPlannerParts;
  #needed: NeededList = "none";
  #planned: Cancel | undefined;
  #isPlannedSoon = false;
  #isListing = false;
  #isRequested = false;
  /** The list that is fetched was requested. */
  #isSettling = false;
  #isStopped = false;
  #failures = 0;

  constructor(parts: ListPlannerParts) {
    this.#parts = parts;
  }

  /** Whether a list is requested that has not begun. */
  get isRequested(): boolean {
    return this.#isRequested;
  }

  /** Whether a list is requested that has not succeeded. The periodic list settles nothing: events tell the changes. */
  get isUnsettled(): boolean {
    return this.#isRequested || this.#isSettling;
  }

  /** The account was just listed. */
  start(): void {
    this.#plan();
  }

  request(needed: NeededList): void {
    if (needed === "none") return;
    this.#isRequested = true;
    if (neededLists.indexOf(needed) > neededLists.indexOf(this.#needed)) this.#needed = needed;
    // Events that come all the time must not postpone the list.
    if (!this.#isListing && !this.#isPlannedSoon) this.#plan();
  }

  stop(): void {
    this.#isStopped = true;
    this.#planned?.();
  }

  #plan(): void {
    this.#planned?.();
    if (this.#isStopped) return;
    const { runtime } = this.#parts;
    this.#isPlannedSoon = this.#needed !== "none";
    this.#planned = runtime.after(this.#delayMs(), () => {
      this.#planned = undefined;
      void this.#list();
    });
  }

  #delayMs(): number {
    const { runtime, relistMs } = this.#parts;
    const jitter = 0.9 + 0.2 * runtime.random();
    if (this.#failures > 0) return jitter * Math.min(retry.toMs, retry.fromMs * 2 ** (this.#failures - 1));
    return this.#isPlannedSoon ? settleMs : jitter * relistMs;
  }

  async #list(): Promise<void> {
    const isCheck = this.#needed === "none";
    const needed = this.#needed === "none" ? "all" : this.#needed;
    this.#needed = "none";
    this.#isListing = true;
    this.#isSettling = this.#isRequested;
    this.#isRequested = false;
    const outcome = await this.#parts.list(needed, isCheck);
    this.#isListing = false;
    if (outcome === "over") return this.stop();
    this.#failures = outcome === "failed" ? this.#failures + 1 : 0;
    if (outcome === "failed") {
      this.#needed = "all";
      this.#isRequested ||= this.#isSettling;
    }
    this.#isSettling = false;
    this.#plan();
  }
}
