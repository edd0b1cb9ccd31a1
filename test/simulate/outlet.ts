import type { EventWriter } from "../../src/events/event-reader.ts";
import type { SimulatedNode } from "./node.ts";
import type { Scheduler } from "./scheduler.ts";

export interface OutletParts {
  readonly scheduler: Scheduler;
  readonly node: SimulatedNode;
  /** The factor for unsent bytes: larger for slow clients. */
  readonly weight: number;
  readonly arrived: (text: string, wasSlow: boolean) => void;
  /** Called when the connection has ended, by either side. */
  readonly gone: () => void;
}

interface Piece {
  readonly text: string;
  /** More bytes were unsent than the service allows. */
  readonly wasSlow: boolean;
}

/** The unsent bytes that the service allows for one reader. */
const allowedUnsentBytes = 1_000_000;

/** The connection of one reader: data arrives in order, each piece after a delay. When it breaks, the rest is lost. */
export class Outlet implements EventWriter {
  readonly node: SimulatedNode;
  readonly #parts: OutletParts;
  readonly #closing = new AbortController();
  readonly #underWay: Piece[] = [];
  #waiting: (() => void)[] = [];
  #unsent = 0;
  #isEnding = false;

  constructor(parts: OutletParts) {
    this.#parts = parts;
    this.node = parts.node;
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  get unsentBytes(): number {
    return this.#unsent;
  }

  write(bytes: Buffer): void {
    if (this.closed.aborted || this.#isEnding) return;
    this.#underWay.push({ text: bytes.toString(), wasSlow: this.#unsent > allowedUnsentBytes });
    this.#unsent += bytes.length * this.#parts.weight;
    if (this.#underWay.length === 1) this.#deliverNext();
  }

  drained(withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const answer = () => {
        cancel();
        resolve(!this.closed.aborted && this.#underWay.length === 0);
      };
      const cancel = this.#parts.scheduler.after(withinMs, this.node, "a reader takes too long", answer);
      this.#waiting.push(answer);
    });
  }

  end(): void {
    this.#isEnding = true;
    if (this.#underWay.length === 0) this.drop();
  }

  /** Breaks the connection; some data in flight may still have arrived. */
  drop(): void {
    if (this.closed.aborted) return;
    const next = this.#underWay[0];
    const { dice } = this.#parts.scheduler;
    if (next && dice.chance(0.5)) this.#parts.arrived(next.text.slice(0, dice.below(next.text.length)), next.wasSlow);
    this.#underWay.length = 0;
    this.#closing.abort();
    this.#tellWaiting();
    this.#parts.gone();
  }

  #deliverNext(): void {
    const { scheduler, arrived } = this.#parts;
    const delayMs = scheduler.dice.chance(0.03) ? scheduler.dice.between(500, 6_000) : scheduler.dice.between(0, 30);
    scheduler.after(delayMs, undefined, `events from ${this.node.name}`, () => {
      const piece = this.#underWay.shift();
      if (!piece || this.closed.aborted) return;
      this.#unsent -= Buffer.byteLength(piece.text) * this.#parts.weight;
      arrived(piece.text, piece.wasSlow);
      if (this.#underWay.length > 0) return this.#deliverNext();
      this.#tellWaiting();
      if (this.#isEnding) this.drop();
    });
  }

  #tellWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}
