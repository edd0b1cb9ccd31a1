import { hash } from "node:crypto";
import { isIPv6 } from "node:net";
import { TooManyRequests } from "../model/errors.ts";
import type { Store } from "../store/seam.ts";
import {
  countsInMemory,
  countsInStore,
  type FailureCount,
  type FailureCounts,
  type FailureTables,
} from "./failure-counts.ts";

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
  remembered: 50_000,
};

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
  readonly #turns = new Map<string, Promise<unknown>[]>();

  constructor(counts: FailureCounts, settings: Partial<FailureLimitSettings> = {}) {
    this.#counts = counts;
    this.#settings = { ...defaultFailureLimits, ...settings };
  }

  /**
   * Runs one attempt, which answers undefined when it failed, or throws TooManyRequests without running it. Attempts of
   * one pair take turns: guesses sent all at once would otherwise all start before the first has failed.
   */
  async attempt<Result>(
    account: string,
    address: string,
    check: () => Promise<Result | undefined>,
  ): Promise<Result | undefined> {
    const source = sourceOf(address);
    const pair = hash("sha256", JSON.stringify([account, source]), "base64");
    const turns = this.#turns.get(pair) ?? [];
    const before = turns.at(-this.#settings.atOnce) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(() => this.#takeTurn(pair, source, check));
    this.#turns.set(pair, turns);
    turns.push(turn);
    try {
      return await turn;
    } finally {
      turns.splice(turns.indexOf(turn), 1);
      if (turns.length === 0) this.#turns.delete(pair);
    }
  }

  async #takeTurn<Result>(pair: string, source: string, check: () => Promise<Result | undefined>) {
    const { ofPair, ofSource } = await this.#counts.find(pair, source);
    const waitMs = Math.max(pairWaitMs(ofPair, this.#settings), sourceWaitMs(ofSource, this.#settings));
    if (waitMs > 0) throw new TooManyRequests(Math.ceil(waitMs / 1000));
    const result = await check();
    if (result === undefined) await this.#counts.count(pair, source, this.#settings);
    else if (ofPair) await this.#counts.forgive(pair);
    return result;
  }
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

/** One customer's IPv6 network (its /64) is one source, or a guesser would have 2^64 of them. */
export function sourceOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1]!;
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.replace(/%.*$/, "").split("::");
  const groupsOf = (part: string) => (part === "" ? [] : part.split(":"));
  const first = groupsOf(head);
  const missing = tail === undefined ? 0 : 8 - first.length - groupsOf(tail).length;
  const groups = [...first, ...new Array<string>(Math.max(missing, 0)).fill("0"), ...groupsOf(tail ?? "")];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
