import { createHash } from "node:crypto";
import { isIPv6 } from "node:net";
import { TooManyRequests } from "../model/errors.ts";

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
  /** How many pairs, and how many sources, are remembered; the longest quiet one goes first. */
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

/**
 * Slows down guessing, per account and source: whoever guesses delays only themselves, and the owner with the right
 * password from another source never notices. Held in memory: a restart forgives.
 */
export class FailureLimits {
  readonly #nowMs: () => number;
  readonly #settings: FailureLimitSettings;
  readonly #pairs = new Map<string, { failures: number; lastMs: number }>();
  readonly #sources = new Map<string, { failures: number; sinceMs: number }>();
  readonly #turns = new Map<string, Promise<unknown>[]>();

  constructor(nowMs: () => number, settings: Partial<FailureLimitSettings> = {}) {
    this.#nowMs = nowMs;
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
    const pair = createHash("sha256")
      .update(JSON.stringify([account, source]))
      .digest("base64");
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
    const waitMs = Math.max(this.#pairWaitMs(pair), this.#sourceWaitMs(source));
    if (waitMs > 0) throw new TooManyRequests(Math.ceil(waitMs / 1000));
    const result = await check();
    if (result === undefined) this.#count(pair, source);
    else this.#pairs.delete(pair);
    return result;
  }

  #pairWaitMs(pair: string): number {
    const known = this.#pairs.get(pair);
    const { freeFailures, firstDelayMs, longestDelayMs } = this.#settings;
    if (!known || known.failures < freeFailures) return 0;
    const delayMs = Math.min(firstDelayMs * 2 ** (known.failures - freeFailures), longestDelayMs);
    return known.lastMs + delayMs - this.#nowMs();
  }

  #sourceWaitMs(source: string): number {
    const known = this.#sources.get(source);
    if (!known || known.failures < this.#settings.failuresPerSource) return 0;
    return known.sinceMs + this.#settings.sourceWindowMs - this.#nowMs();
  }

  #count(pair: string, source: string): void {
    const nowMs = this.#nowMs();
    const { forgetAfterMs, sourceWindowMs, remembered } = this.#settings;
    const known = this.#pairs.get(pair);
    const failures = known && nowMs - known.lastMs < forgetAfterMs ? known.failures : 0;
    remember(this.#pairs, pair, { failures: failures + 1, lastMs: nowMs }, remembered);

    const counted = this.#sources.get(source);
    const window = counted && nowMs - counted.sinceMs < sourceWindowMs ? counted : { failures: 0, sinceMs: nowMs };
    remember(this.#sources, source, { ...window, failures: window.failures + 1 }, remembered);
  }
}

/** Maps keep the order of insertion: what was touched last goes to the end, what was quiet longest is the first. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void {
  map.delete(key);
  map.set(key, value);
  for (const [oldest] of map) {
    if (map.size <= limit) break;
    map.delete(oldest);
  }
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
