import type { IncomingMessage, Server } from "node:http";
import { sourceOf } from "../../identity/source.ts";
import { limits, type OnLimitReached } from "../../model/limits.ts";
import { isInNetworks, networksOf } from "./connection-limits.ts";

export interface FairTurnParts {
  readonly trustedProxies: readonly string[];
  readonly onLimitReached: OnLimitReached;
}

/** Handles each request in a fair turn of its source, unless its client has disconnected meanwhile. */
export class FairRequests {
  readonly #turns: FairTurns;
  readonly #proxies: ReturnType<typeof networksOf>;

  constructor({ trustedProxies, onLimitReached }: FairTurnParts) {
    this.#turns = new FairTurns(onLimitReached);
    this.#proxies = networksOf(trustedProxies);
  }

  watch(server: Server): void {
    server.on("connection", () => this.#turns.connected());
  }

  handle(request: IncomingMessage, handle: () => void): void {
    const { remoteAddress = "" } = request.socket;
    const forwarded = request.headers["x-forwarded-for"];
    const isPassedOn = forwarded !== undefined && remoteAddress !== "" && isInNetworks(this.#proxies, remoteAddress);
    // A trusted proxy replaces the header, or adds the address that it saw at the end.
    const address = isPassedOn ? String(forwarded).split(",").at(-1)!.trim() : remoteAddress;
    this.#turns.run(sourceOf(address), () => {
      if (!request.socket.destroyed) handle();
    });
  }
}

/**
 * Spreads the requests of one source over turns of the event loop. A source that opens a thousand connections at once
 * has a thousand requests ready in one turn, and all others would wait for them. So each source has a few requests
 * handled in a turn; the rest wait in order.
 *
 * libuv accepts one connection in each turn. While a burst of connections waits to be accepted, long turns would delay
 * the connections of all other clients, so turns in which a connection was accepted are short.
 */
export class FairTurns {
  readonly #onLimitReached: OnLimitReached;
  /** Number of requests of each source that were handled in this turn. */
  readonly #handled = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();
  #isTurnScheduled = false;
  #hasConnected = false;

  constructor(onLimitReached: OnLimitReached) {
    this.#onLimitReached = onLimitReached;
  }

  /** A connection was accepted in this turn: more may wait. */
  connected(): void {
    this.#scheduleTurn();
    this.#hasConnected = true;
  }

  run(source: string, handle: () => void): void {
    this.#scheduleTurn();
    const waiting = this.#waiting.get(source);
    if (waiting) {
      waiting.push(handle);
      return;
    }
    const handled = this.#handled.get(source) ?? 0;
    if (handled >= this.#perTurn) {
      this.#waiting.set(source, [handle]);
      this.#onLimitReached("requestsPerTurn");
      return;
    }
    this.#handled.set(source, handled + 1);
    handle();
  }

  get #perTurn(): number {
    return this.#hasConnected ? limits.requestsPerShortTurn : limits.requestsPerTurn;
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled) return;
    this.#isTurnScheduled = true;
    setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#isTurnScheduled = false;
    this.#handled.clear();
    const atMost = this.#perTurn;
    this.#hasConnected = false;
    if (this.#waiting.size === 0) return;
    this.#scheduleTurn();
    for (const [source, waiting] of this.#waiting) {
      const next = waiting.splice(0, atMost);
      if (waiting.length === 0) this.#waiting.delete(source);
      this.#handled.set(source, next.length);
      for (const handle of next) handle();
    }
  }
}
