import type { ServerResponse } from "node:http";
import type { Cancel, Clock } from "../clock.ts";

/** A reader that leaves so many bytes unread is cut off: it would fill the memory. */
const mostUnreadBytes = 64 * 1024 * 1024;

interface Late {
  readonly dueMs: number;
  readonly pieces: readonly Buffer[];
}

/** One open connection: sends bytes at once or late, always in order. */
export class Stream {
  /** Streams and faults are numbered together. */
  readonly serial: number;
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  #late: Late[] = [];
  #lateBytes = 0;
  #cancelLate: Cancel = () => {};
  #cancelKeepAlive: Cancel = () => {};

  constructor(serial: number, response: ServerResponse, clock: Clock) {
    this.serial = serial;
    this.#response = response;
    this.#clock = clock;
  }

  get isOverfull(): boolean {
    return this.#response.writableLength + this.#lateBytes > mostUnreadBytes;
  }

  send(pieces: readonly Buffer[], delayMs = 0): void {
    if (delayMs === 0 && this.#late.length === 0) {
      this.#write(pieces);
      return;
    }
    // What comes after something late waits for it in the queue, also when the delay has become shorter since.
    this.#late.push({ dueMs: this.#clock.nowMs() + delayMs, pieces });
    this.#lateBytes += bytesOf(pieces);
    if (this.#late.length === 1) this.#wait();
  }

  /** Runs `act` again and again while the stream lives. */
  keepAlive(everyMs: number, act: () => void): void {
    this.#cancelKeepAlive = this.#clock.after(everyMs, () => {
      this.keepAlive(everyMs, act);
      act();
    });
  }

  /** Ends in order, after a last event if there is one. */
  end(farewell?: Buffer): void {
    this.forget();
    this.#response.end(farewell);
  }

  /** Breaks off without a word, whatever is still unread. */
  breakOff(): void {
    this.forget();
    this.#response.destroy();
  }

  /** Breaks off without a word as soon as what was sent is on its way, and these bytes after it. */
  breakOffAfter(last: readonly Buffer[] = []): void {
    this.forget();
    this.#write(last);
    this.#response.socket?.destroySoon();
  }

  /** Leaves no timer behind. */
  forget(): void {
    this.#cancelKeepAlive();
    this.#cancelLate();
    this.#late = [];
    this.#lateBytes = 0;
  }

  /** Each piece is a chunk of its own: Node would put together what is written in one turn. */
  #write(pieces: readonly Buffer[]): void {
    for (const piece of pieces) {
      this.#response.cork();
      this.#response.write(piece);
      this.#response.uncork();
    }
  }

  #wait(): void {
    const [next] = this.#late;
    if (next === undefined) return;
    this.#cancelLate = this.#clock.after(Math.max(next.dueMs - this.#clock.nowMs(), 0), () => {
      this.#late.shift();
      this.#lateBytes -= bytesOf(next.pieces);
      this.#write(next.pieces);
      this.#wait();
    });
  }
}

function bytesOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
