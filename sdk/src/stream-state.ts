/** Whether what a stream has told so far is how things are now. */
export type StreamState =
  | {
      /** The stream is up: everything that happens is told. */
      readonly state: "live";
      /** When the stream was last heard, in milliseconds. */
      readonly asOf: number;
    }
  | {
      /** The stream is lost, silent or refused: what you know is as of `asOf`, and may no longer be so. */
      readonly state: "stale";
      /** When the stream was last heard, in milliseconds; undefined when it never was. */
      readonly asOf: number | undefined;
      /**
       * Why: an error such as `Unreachable`, `Unavailable` or `NotSignedIn`. Undefined before the first connection, and
       * when the service ended the stream.
       */
      readonly reason: unknown;
    };

/**
 * Tells an application each time that the state of a stream changes.
 * @internal
 */
export class StreamStates {
  readonly #tell: ((state: StreamState) => void) | undefined;
  #last: StreamState["state"] | undefined;
  #asOf: number | undefined;

  constructor(tell: ((state: StreamState) => void) | undefined) {
    this.#tell = tell;
    this.lost(undefined);
  }

  heard(): void {
    const asOf = Date.now();
    this.#asOf = asOf;
    if (this.#last === "live") return;
    this.#last = "live";
    this.#tell?.({ state: "live", asOf });
  }

  lost(reason: unknown): void {
    if (this.#last === "stale") return;
    this.ended(reason);
  }

  /** The stream won't come back: told with its reason, also when the stream was lost before. */
  ended(reason: unknown): void {
    this.#last = "stale";
    this.#tell?.({ state: "stale", asOf: this.#asOf, reason });
  }
}

/** Without a confirmed interval: a service of the version before sends a heartbeat every 15 seconds. */
const unconfirmedMs = 20_000;

/**
 * How long a connection may be silent: two heartbeats of the interval that the service has confirmed.
 * @internal
 */
export class Silence {
  readonly #given: number | undefined;
  #everySeconds: number | undefined;
  /** How long the connection has been waited for since its last message. */
  #waitedMs = 0;

  constructor(givenMs: number | undefined) {
    this.#given = givenMs;
  }

  get limitMs(): number {
    return this.#given ?? (this.#everySeconds === undefined ? unconfirmedMs : 2 * this.#everySeconds * 1_000);
  }

  get leftMs(): number {
    return Math.max(0, this.limitMs - this.#waitedMs);
  }

  /** A comment is no message: it says that the connection is up, not that everything is told. */
  waited(ms: number): void {
    this.#waitedMs += ms;
  }

  /** A message came. Only heartbeats confirm an interval, and a service of the version before confirms none. */
  heard(event: string, data: string): void {
    this.#waitedMs = 0;
    if (event !== "heartbeat") return;
    const every = /"everySeconds":(\d{1,2})\b/.exec(data)?.[1];
    if (every !== undefined) this.#everySeconds = Number(every);
  }
}
