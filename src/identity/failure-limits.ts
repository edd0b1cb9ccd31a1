import { hash } from "node:crypto";
import { TooManyRequests } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import { FairQueue } from "../runtime/fair-queue.ts";
import type { Store } from "../store/seam.ts";
import {
  countsInMemory,
  countsInStore,
  type FailureCount,
  type FailureCounts,
  type FailureTables,
} from "./failure-counts.ts";
import { sourceOf } from "./source.ts";

export interface FailureLimitSettings {
  /** The number of failures of one pair (account and source) without a delay: people mistype. */
  readonly freeFailures: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** The count of a pair restarts after so long without a failure. */
  readonly forgetAfterMs: number;
  /** High, since assistants and whole networks share one source address. */
  readonly failuresPerSource: number;
  readonly sourceWindowMs: number;
  /** Concurrent attempts of one pair. One for passwords, which can be guessed. */
  readonly atOnce: number;
  /** Attempts of one source, waiting or running. Further attempts are refused before any work is done. */
  readonly perSource: number;
  /** How many pairs, and how many sources, are counted in memory. The least recent one is evicted first. */
  readonly remembered: number;
}

export const defaultFailureLimits: FailureLimitSettings = {
  freeFailures: 5,
  firstDelayMs: 1_000,
  longestDelayMs: 15 * 60_000,
  forgetAfterMs: 60 * 60_000,
  failuresPerSource: 1_000,
  sourceWindowMs: 10 * 60_000,
  atOnce: 1,
  perSource: limits.signInsPerSource,
  remembered: 50_000,
};

/** The account of a user's sign-ins. */
export function signInAccount(tenantId: string, name: string): string {
  return JSON.stringify([tenantId, name]);
}

/** One attempt; resolves to undefined when it failed. It gets the number of failures of its source in this window. */
export type Check<Result> = (failuresOfSource: number) => Promise<Result | undefined>;

/** The counts for one purpose: in the store when other nodes share it, else in memory. */
export function failureCountsFor(
  purpose: string,
  { store, elapsedMs }: { readonly store: Store<FailureTables>; readonly elapsedMs: () => number },
): FailureCounts {
  return store.isShared ? countsInStore(store, purpose) : countsInMemory(elapsedMs, defaultFailureLimits.remembered);
}

/**
 * Rate limit of failed attempts, with exponential back-off for each pair of account and source. An attacker delays only
 * attempts from their own source: the owner can still sign in from another one.
 */
export class FailureLimits {
  readonly #counts: FailureCounts;
  readonly #settings: FailureLimitSettings;
  readonly #onLimit: () => void;
  /** One queue for each pair with an attempt in progress. */
  readonly #queues = new Map<string, FairQueue>();
  /** The number of attempts in progress, by source. */
  readonly #inProgress = new Map<string, number>();

  /** Calls `onLimit` for each attempt that is refused because its source has too many in progress. */
  constructor(
    counts: FailureCounts,
    settings: Partial<FailureLimitSettings> = {},
    onLimit: () => void = () => undefined,
  ) {
    this.#counts = counts;
    this.#settings = { ...defaultFailureLimits, ...settings };
    this.#onLimit = onLimit;
  }

  /**
   * Runs one attempt, or throws TooManyRequests without running it. Attempts of one pair are serialised: otherwise many
   * simultaneous guesses would all start before the first has failed. An attempt whose client disconnects leaves the
   * queue.
   */
  async attempt<Result>(
    account: string,
    address: string,
    check: Check<Result>,
    disconnected?: AbortSignal,
  ): Promise<Result | undefined> {
    const source = sourceOf(address);
    this.#enter(source);
    const pair = hash("sha256", JSON.stringify([account, source]), "base64");
    const queue = this.#queues.get(pair) ?? this.#newQueue();
    this.#queues.set(pair, queue);
    try {
      return await queue.run(source, () => this.#checkNow({ account, pair, source }, check), disconnected);
    } finally {
      if (queue.isIdle && this.#queues.get(pair) === queue) this.#queues.delete(pair);
      this.#leave(source);
    }
  }

  /** Forgets the failures of an account from all sources. Failures of a source with many accounts still count. */
  unlock(account: string): Promise<void> {
    return this.#counts.unlock(account);
  }

  #newQueue(): FairQueue {
    const { atOnce, perSource } = this.#settings;
    return new FairQueue({ atOnce, mostWaiting: perSource, fullError: tooManyInProgress });
  }

  #enter(source: string): void {
    const count = this.#inProgress.get(source) ?? 0;
    if (count >= this.#settings.perSource) {
      this.#onLimit();
      throw tooManyInProgress();
    }
    this.#inProgress.set(source, count + 1);
  }

  #leave(source: string): void {
    const count = this.#inProgress.get(source)! - 1;
    if (count > 0) this.#inProgress.set(source, count);
    else this.#inProgress.delete(source);
  }

  async #checkNow<Result>({ account, pair, source }: Attempted, check: Check<Result>) {
    const found = await this.#counts.find(pair, source, account);
    const { ofSource, unlockedSinceMs } = found;
    const isForgiven = found.ofPair && unlockedSinceMs !== undefined && unlockedSinceMs <= found.ofPair.sinceLastMs;
    if (isForgiven) await this.#counts.reset(pair);
    const ofPair = isForgiven ? undefined : found.ofPair;
    const waitMs = Math.max(pairWaitMs(ofPair, this.#settings), sourceWaitMs(ofSource, this.#settings));
    if (waitMs > 0) throw new TooManyRequests(Math.ceil(waitMs / 1000));
    const result = await check(failuresInWindow(ofSource, this.#settings));
    if (result === undefined) await this.#counts.count(pair, source, this.#settings);
    else if (ofPair) await this.#counts.reset(pair);
    return result;
  }
}

interface Attempted {
  readonly account: string;
  readonly pair: string;
  readonly source: string;
}

function tooManyInProgress(): TooManyRequests {
  return new TooManyRequests(1, "Too many attempts from this address are under way.");
}

function failuresInWindow(count: FailureCount | undefined, { sourceWindowMs }: FailureLimitSettings): number {
  return count && count.sinceFirstMs < sourceWindowMs ? count.failures : 0;
}

function pairWaitMs(count: FailureCount | undefined, settings: FailureLimitSettings): number {
  const { freeFailures, firstDelayMs, longestDelayMs } = settings;
  if (!count || count.failures < freeFailures) return 0;
  return Math.min(firstDelayMs * 2 ** (count.failures - freeFailures), longestDelayMs) - count.sinceLastMs;
}

function sourceWaitMs(count: FailureCount | undefined, settings: FailureLimitSettings): number {
  if (!count || count.failures < settings.failuresPerSource) return 0;
  return settings.sourceWindowMs - count.sinceFirstMs;
}
