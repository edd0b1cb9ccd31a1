import type { IncomingMessage, Server } from "node:http";
import { sourceOf } from "../../identity/source.ts";
import { limits, type ReachLimit } from "../../model/limits.ts";
import { isIn, networksOf } from "./connection-limits.ts";

export interface FairTurnParts {
  readonly trustedProxies: readonly string[];
  readonly reached: ReachLimit;
}

/** Handles each request in a fair turn of its source, unless its client has gone meanwhile. */
export class FairRequests {
  readonly #turns: FairTurns;
  readonly #proxies: ReturnType<typeof networksOf>;

  constructor({ trustedProxies, reached }: FairTurnParts) {
    this.#turns = new FairTurns(reached);
    this.#proxies = networksOf(trustedProxies);
  }

  watch(server: Server): void {
    server.on("connection", () => this.#turns.connected());
  }

  handle(request: IncomingMessage, handle: () => void): void {
    const { remoteAddress = "" } = request.socket;
    const forwarded = request.headers["x-forwarded-for"];
    const isPassedOn = forwarded !== undefined && remoteAddress !== "" && isIn(this.#proxies, remoteAddress);
    // A trusted proxy replaces the header, or adds the address that it saw at the end.
    const address = isPassedOn ? String(forwarded).split(",").at(-1)!.trim() : remoteAddress;
    this.#turns.run(sourceOf(address), () => {
      if (!request.socket.destroyed) handle();
    });
  }
}

/**
 * Spreads the requests of one source over turns of the event loop. A source that opens a thousand connections at once has
 * a thousand requests ready in one turn, and all others would wait until every one of them is handled. In one turn each
 * source has a few handled; the rest wait in order, and connections of other sources get their turn in between.
 *
 * libuv accepts one connection in each turn. While a burst of connections waits to be accepted, a long turn would hold up
 * the connection of every other client behind them, so turns in which a connection was accepted are short.
 */
export class FairTurns {
  readonly #reached: ReachLimit;
  /** How many requests of each source were handled in this turn. */
  readonly #handled = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();
  #isTurnPlanned = false;
  #hasConnected = false;

  constructor(reached: ReachLimit) {
    this.#reached = reached;
  }

  /** A connection was accepted in this turn: more may wait. */
  connected(): void {
    this.#planTurn();
    this.#hasConnected = true;
  }

  run(source: string, handle: () => void): void {
    this.#planTurn();
    const waiting = this.#waiting.get(source);
    if (waiting) {
      waiting.push(handle);
      return;
    }
    const handled = this.#handled.get(source) ?? 0;
    if (handled >= this.#perTurn) {
      this.#waiting.set(source, [handle]);
      this.#reached("requestsPerTurn");
      return;
    }
    this.#handled.set(source, handled + 1);
    handle();
  }

  get #perTurn(): number {
    return this.#hasConnected ? limits.requestsPerShortTurn : limits.requestsPerTurn;
  }

  #planTurn(): void {
    if (this.#isTurnPlanned) return;
    this.#isTurnPlanned = true;
    setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#isTurnPlanned = false;
    this.#handled.clear();
    const atMost = this.#perTurn;
    this.#hasConnected = false;
    if (this.#waiting.size === 0) return;
    this.#planTurn();
    for (const [source, waiting] of this.#waiting) {
      const next = waiting.splice(0, atMost);
      if (waiting.length === 0) this.#waiting.delete(source);
      this.#handled.set(source, next.length);
      for (const handle of next) handle();
    }
  }
}
