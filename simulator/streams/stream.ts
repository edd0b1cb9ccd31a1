import type { ServerResponse } from "node:http";
import type { Cancel, Clock } from "../clock.ts";

/** A reader with more unread bytes is disconnected: it would exhaust the memory. */
const maxUnreadBytes = 64 * 1024 * 1024;

interface DelayedWrite {
  readonly dueMs: number;
  readonly pieces: readonly Buffer[];
}

/** One open connection. Sends bytes at once or delayed, always in order. */
export class Stream {
  /** Streams and faults share one sequence. */
  readonly serial: number;
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  #delayed: DelayedWrite[] = [];
  #delayedBytes = 0;
  #cancelDelayed: Cancel = () => {};
  #cancelKeepAlive: Cancel = () => {};

  constructor(serial: number, response: ServerResponse, clock: Clock) {
    this.serial = serial;
    this.#response = response;
    this.#clock = clock;
  }

  get isOverfull(): boolean {
    return this.#response.writableLength + this.#delayedBytes > maxUnreadBytes;
  }

  send(pieces: readonly Buffer[], delayMs = 0): void {
    if (delayMs === 0 && this.#delayed.length === 0) {
      this.#write(pieces);
      return;
    }
    // Keeps the order: bytes behind a delayed write wait for it, even if the delay has become shorter.
    this.#delayed.push({ dueMs: this.#clock.nowMs() + delayMs, pieces });
    this.#delayedBytes += bytesOf(pieces);
    if (this.#delayed.length === 1) this.#wait();
  }

  /** Calls `send` at an interval until the stream ends. */
  keepAlive(everyMs: number, send: () => void): void {
    this.#cancelKeepAlive = this.#clock.after(everyMs, () => {
      this.keepAlive(everyMs, send);
      send();
    });
  }

  /** Ends the response, after a last event if there is one. */
  end(lastFrame?: Buffer): void {
    this.forget();
    this.#response.end(lastFrame);
  }

  /** Closes the connection at once; unread bytes are lost. */
  destroy(): void {
    this.forget();
    this.#response.destroy();
  }

  /** Closes the connection without ending the response, after all written bytes and `last`. */
  destroyAfter(last: readonly Buffer[] = []): void {
    this.forget();
    this.#write(last);
    this.#response.socket?.destroySoon();
  }

  /** Cancels all timers and delayed writes. */
  forget(): void {
    this.#cancelKeepAlive();
    this.#cancelDelayed();
    this.#delayed = [];
    this.#delayedBytes = 0;
  }

  /** Sends each piece as a chunk of its own: Node would merge writes of one turn of the event loop. */
  #write(pieces: readonly Buffer[]): void {
    for (const piece of pieces) {
      this.#response.cork();
      this.#response.write(piece);
      this.#response.uncork();
    }
  }

  #wait(): void {
    const [next] = this.#delayed;
    if (next === undefined) return;
    this.#cancelDelayed = this.#clock.after(Math.max(next.dueMs - this.#clock.nowMs(), 0), () => {
      this.#delayed.shift();
      this.#delayedBytes -= bytesOf(next.pieces);
      this.#write(next.pieces);
      this.#wait();
    });
  }
}

function bytesOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
