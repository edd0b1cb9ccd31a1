import type { IncomingMessage } from "node:http";
import { sourceOf } from "../identity/source.ts";
import { limits, type ReachLimit } from "../model/limits.ts";
import { isIn, networksOf } from "./connection-limits.ts";

export interface FairTurnParts {
  readonly trustedProxies: readonly string[];
  readonly reached: ReachLimit;
}

/** Handles each request in a fair turn of its source, unless its client has gone meanwhile. */
export function fairTurns({ trustedProxies, reached }: FairTurnParts) {
  const turns = new FairTurns(reached);
  const proxies = networksOf(trustedProxies);
  return (request: IncomingMessage, handle: () => void) => {
    const { remoteAddress = "" } = request.socket;
    const forwarded = request.headers["x-forwarded-for"];
    const isPassedOn = forwarded !== undefined && remoteAddress !== "" && isIn(proxies, remoteAddress);
    // A trusted proxy replaces the header, or adds the address that it saw at the end.
    const address = isPassedOn ? String(forwarded).split(",").at(-1)!.trim() : remoteAddress;
    turns.run(sourceOf(address), () => {
      if (!request.socket.destroyed) handle();
    });
  };
}

/**
 * Spreads the requests of one source over turns of the event loop. A source that opens a thousand connections at once has
 * a thousand requests ready in one turn, and all others would wait until every one of them is handled. In one turn each
 * source has a few handled; the rest wait in order, and connections of other sources get their turn in between.
 */
export class FairTurns {
  readonly #reached: ReachLimit;
  /** How many requests of each source were handled in this turn. */
  readonly #handled = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();
  #isTurnPlanned = false;

  constructor(reached: ReachLimit) {
    this.#reached = reached;
  }

  run(source: string, handle: () => void): void {
    this.#planTurn();
    const waiting = this.#waiting.get(source);
    if (waiting) {
      waiting.push(handle);
      return;
    }
    const handled = this.#handled.get(source) ?? 0;
    if (handled >= limits.requestsPerTurn) {
      this.#waiting.set(source, [handle]);
      this.#reached("requestsPerTurn");
      return;
    }
    this.#handled.set(source, handled + 1);
    handle();
  }

  #planTurn(): void {
    if (this.#isTurnPlanned) return;
    this.#isTurnPlanned = true;
    setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#isTurnPlanned = false;
    this.#handled.clear();
    if (this.#waiting.size === 0) return;
    this.#planTurn();
    for (const [source, waiting] of this.#waiting) {
      const next = waiting.splice(0, limits.requestsPerTurn);
      if (waiting.length === 0) this.#waiting.delete(source);
      this.#handled.set(source, next.length);
      for (const handle of next) handle();
    }
  }
}
