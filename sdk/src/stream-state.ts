import type { ServerSentMessage } from "./sse.ts";

/** Whether the values that a stream has delivered are current. */
export type StreamState =
  | {
      /** The stream is connected and delivers all changes. */
      readonly state: "live";
      /** Time of the last message in milliseconds. */
      readonly asOf: number;
    }
  | {
      /** The stream is lost, silent, refused or catches up: your values are as of `asOf` and may be out of date. */
      readonly state: "stale";
      /** Time of the last message in milliseconds; undefined before the first one. */
      readonly asOf: number | undefined;
      /**
       * Why the stream became stale: mostly `Unreachable`, or `NotSignedIn` when the access has ended. Undefined before
       * the first connection, after the service ended the stream, and while the stream catches up. While the stream stays stale, failed attempts to
       * reconnect are not reported here; `onDisconnected` gets the reason of each.
       */
      readonly reason: unknown;
    };

/**
 * Reports each change of a stream's state to the application.
 * @internal
 */
export class StreamStates {
  readonly #onState: ((state: StreamState) => void) | undefined;
  #last: StreamState["state"] | undefined;
  #asOf: number | undefined;
  #isCatchingUp = false;

  constructor(onState: ((state: StreamState) => void) | undefined) {
    this.#onState = onState;
    this.lost(undefined);
  }

  /** A stream that catches up is connected, but its values are old until a heartbeat says that it is current. */
  received(messages: readonly Pick<ServerSentMessage, "event" | "data">[]): void {
    for (const { event, data } of messages) {
      if (event === "heartbeat") this.#isCatchingUp = isCatchingUp(data);
    }
    if (this.#isCatchingUp) {
      if (this.#last !== "stale") this.ended(undefined);
      return;
    }
    const asOf = Date.now();
    this.#asOf = asOf;
    if (this.#last === "live") return;
    this.#last = "live";
    this.#onState?.({ state: "live", asOf });
  }

  /** The connection is lost, or an attempt to connect failed. Reported only once until the next message. */
  lost(reason: unknown): void {
    this.#isCatchingUp = false;
    if (this.#last === "stale") return;
    this.ended(reason);
  }

  /** The stream has ended permanently. Reported even if the stream was stale before. */
  ended(reason: unknown): void {
    this.#last = "stale";
    this.#onState?.({ state: "stale", asOf: this.#asOf, reason });
  }
}

/** @internal */
export function isCatchingUp(heartbeat: string): boolean {
  return /"catchingUp":true\b/.test(heartbeat);
}

/** The limit while no interval is confirmed: older versions of the service send a heartbeat every 15 seconds. */
const unconfirmedMs = 20_000;

/**
 * How long a connection may be silent: two heartbeats of the interval that the service has confirmed.
 * @internal
 */
export class Silence {
  readonly #fixedLimitMs: number | undefined;
  #everySeconds: number | undefined;
  /** Time spent waiting for the connection since its last message. */
  #waitedMs = 0;

  constructor(limitMs: number | undefined) {
    this.#fixedLimitMs = limitMs;
  }

  get limitMs(): number {
    return this.#fixedLimitMs ?? (this.#everySeconds === undefined ? unconfirmedMs : 2 * this.#everySeconds * 1_000);
  }

  get leftMs(): number {
    return Math.max(0, this.limitMs - this.#waitedMs);
  }

  /**
   * Adds to the time without a message. Bytes that form no message, such as a comment, do not reset it: they do not
   * show that events arrive.
   */
  waited(ms: number): void {
    this.#waitedMs += ms;
  }

  /** Resets the time after a message. A heartbeat also confirms the interval, unless an older service sent it. */
  received(event: string, data: string): void {
    this.#waitedMs = 0;
    if (event !== "heartbeat") return;
    const every = /"everySeconds":(\d{1,2})\b/.exec(data)?.[1];
    if (every !== undefined) this.#everySeconds = Number(every);
  }
}
