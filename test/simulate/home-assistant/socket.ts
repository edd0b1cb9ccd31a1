import { EventEmitter } from "node:events";
import type { Process, Scheduler } from "../scheduler.ts";

export interface SocketParts {
  readonly scheduler: Scheduler;
  readonly node: Process;
  readonly instance: Process;
  /** A text from the node has arrived. */
  readonly receive: (text: string) => void;
  /** The node has ended the connection. */
  readonly ended: () => void;
}

/** A WebSocket as the connector uses it. Both directions keep the order of their messages. */
export class SimulatedSocket extends EventEmitter {
  /** Nothing arrives any more, in either direction, and nobody says so. */
  isSilent = false;
  isClosed = false;
  readonly #parts: SocketParts;
  readonly #arriving: string[] = [];
  readonly #leaving: string[] = [];
  #isPaused = true;

  constructor(parts: SocketParts) {
    super();
    this.#parts = parts;
  }

  /** Whether the node lives and has not ended the connection. */
  get isOpen(): boolean {
    return !this.isClosed && !this.#parts.node.isDead;
  }

  /** How many messages are on their way to the node. */
  get arrivingCount(): number {
    return this.#arriving.length;
  }

  send(text: string): void {
    if (this.isClosed) return;
    this.#leaving.push(text);
    if (this.#leaving.length === 1) this.#sendNext();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#arriving.length > 0) this.#deliverNext();
  }

  terminate(): void {
    if (this.isClosed) return;
    this.#parts.ended();
    this.#close();
  }

  /** The instance sends a message. */
  push(message: object): void {
    this.pushText(JSON.stringify(message));
  }

  pushText(text: string): void {
    if (this.isClosed || this.isSilent) return;
    this.#arriving.push(text);
    if (this.#arriving.length === 1 && !this.#isPaused) this.#deliverNext();
  }

  /** The instance ends the connection, after what it has sent. */
  drop(): void {
    if (!this.isClosed && !this.isSilent) this.#close();
  }

  #close(): void {
    this.isClosed = true;
    this.#parts.scheduler.after(0, this.#parts.node, "a socket closes", () => this.emit("close"));
  }

  #sendNext(): void {
    const { scheduler, instance, receive } = this.#parts;
    scheduler.after(scheduler.dice.between(0, 20), instance, "the instance receives", () => {
      const text = this.#leaving.shift();
      if (text === undefined || this.isClosed) return;
      if (!this.isSilent) receive(text);
      if (this.#leaving.length > 0) this.#sendNext();
    });
  }

  #deliverNext(): void {
    const { scheduler, node } = this.#parts;
    const delayMs = scheduler.dice.chance(0.05) ? scheduler.dice.between(50, 1_500) : scheduler.dice.between(0, 20);
    scheduler.after(delayMs, node, "a message of an instance", () => {
      if (this.isClosed || this.isSilent || this.#isPaused) return;
      const text = this.#arriving.shift();
      if (text === undefined) return;
      this.emit("message", text, false);
      if (this.#arriving.length > 0 && !this.#isPaused) this.#deliverNext();
    });
  }
}
