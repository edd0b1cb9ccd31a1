import { hash } from "node:crypto";
import { TooManyRequests } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { Store } from "../store/seam.ts";
import {
  countsInMemory,
  countsInStore,
  type FailureCount,
  type FailureCounts,
  type FailureTables,
} from "./failure-counts.ts";
import { FairLine } from "./fair-line.ts";
import { sourceOf } from "./source.ts";

export interface FailureLimitSettings {
  /** So many wrong attempts of one account from one source cost nothing: people mistype. */
  readonly freeFailures: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** A pair that has been quiet for so long starts anew. */
  readonly forgetAfterMs: number;
  /** High, since assistants and whole networks share one address. */
  readonly failuresPerSource: number;
  readonly sourceWindowMs: number;
  /** So many attempts of one pair may be under way at once; one where a guess has a chance. */
  readonly atOnce: number;
  /** Attempts of one source, waiting or running. Further ones are refused before any work is done. */
  readonly perSource: number;
  /** How many pairs, and how many sources, are remembered in memory; the longest quiet one goes first. */
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

/** One attempt; undefined when it failed. It is told how many attempts of its source failed before in this window. */
export type Check<Result> = (failuresOfSource: number) => Promise<Result | undefined>;

/** Where failures are counted for one purpose: together with all other nodes, or here alone when there are none. */
export function failureCountsFor(
  purpose: string,
  { store, nowMs }: { readonly store: Store<FailureTables>; readonly nowMs: () => number },
): FailureCounts {
  return store.isShared ? countsInStore(store, purpose) : countsInMemory(nowMs, defaultFailureLimits.remembered);
}

/**
 * Slows down guessing, per account and source: whoever guesses delays only themselves, and the owner with the right
 * password from another source never notices.
 */
export class FailureLimits {
  readonly #counts: FailureCounts;
  readonly #settings: FailureLimitSettings;
  readonly #full: () => void;
  /** One line for each pair that has an attempt under way. */
  readonly #lines = new Map<string, FairLine>();
  readonly #underWay = new Map<string, number>();

  /** Calls `full` for each attempt that finds its source at its limit. */
  constructor(counts: FailureCounts, settings: Partial<FailureLimitSettings> = {}, full: () => void = () => undefined) {
    this.#counts = counts;
    this.#settings = { ...defaultFailureLimits, ...settings };
    this.#full = full;
  }

  /**
   * Runs one attempt, which answers undefined when it failed, or throws TooManyRequests without running it. Attempts of
   * one pair take turns: guesses sent all at once would otherwise all start before the first has failed. An attempt
   * whose client is gone leaves the line.
   */
  async attempt<Result>(
    account: string,
    address: string,
    check: Check<Result>,
    gone?: AbortSignal,
  ): Promise<Result | undefined> {
    const source = sourceOf(address);
    this.#enter(source);
    const pair = hash("sha256", JSON.stringify([account, source]), "base64");
    const line = this.#lines.get(pair) ?? this.#newLine();
    this.#lines.set(pair, line);
    try {
      return await line.run(source, () => this.#takeTurn(pair, source, check), gone);
    } finally {
      if (line.isIdle && this.#lines.get(pair) === line) this.#lines.delete(pair);
      this.#leave(source);
    }
  }

  #newLine(): FairLine {
    const { atOnce, perSource } = this.#settings;
    return new FairLine({ atOnce, longest: perSource, full: tooManyUnderWay });
  }

  #enter(source: string): void {
    const underWay = this.#underWay.get(source) ?? 0;
    if (underWay >= this.#settings.perSource) {
      this.#full();
      throw tooManyUnderWay();
    }
    this.#underWay.set(source, underWay + 1);
  }

  #leave(source: string): void {
    const underWay = this.#underWay.get(source)! - 1;
    if (underWay > 0) this.#underWay.set(source, underWay);
    else this.#underWay.delete(source);
  }

  async #takeTurn<Result>(pair: string, source: string, check: Check<Result>) {
    const { ofPair, ofSource } = await this.#counts.find(pair, source);
    const waitMs = Math.max(pairWaitMs(ofPair, this.#settings), sourceWaitMs(ofSource, this.#settings));
    if (waitMs > 0) throw new TooManyRequests(Math.ceil(waitMs / 1000));
    const result = await check(failuresInWindow(ofSource, this.#settings));
    if (result === undefined) await this.#counts.count(pair, source, this.#settings);
    else if (ofPair) await this.#counts.forgive(pair);
    return result;
  }
}

function tooManyUnderWay(): TooManyRequests {
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
