/**
 * Until when an open stream is known to have sent all changes. Everything since then may have been missed when the
 * stream turns out to keep back changes. All times are on the node's monotonic clock.
 */
export class StreamCoverage {
  readonly #elapsedMs: () => number;
  #untilMs: number;
  /** A read found changes, and the stream has sent nothing since: an equal read does not prove that it works. */
  #isBehind = false;

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
    this.#untilMs = elapsedMs();
  }

  /** In whole milliseconds, rounded up. */
  get unprovenMs(): number {
    return Math.ceil(this.#elapsedMs() - this.#untilMs);
  }

  /** The stream has sent an event. */
  streamSent(): void {
    this.#isBehind = false;
    this.#advance(this.#elapsedMs());
  }

  /** The link became live with an account of that time: the time before is a blind interval of its own. */
  linkBecameLive(receivedMs: number): void {
    this.#advance(receivedMs);
  }

  /** An account that was read beside the stream at that time is stored. */
  readStored(receivedMs: number, hasChanged: boolean): void {
    if (hasChanged) this.#isBehind = true;
    else if (!this.#isBehind) this.#advance(receivedMs);
  }

  #advance(timeMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, timeMs);
  }
}
