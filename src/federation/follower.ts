import type { Connector, StreamEnd } from "../ecosystem/connector.ts";
import type { Account } from "../model/account.ts";
import { OwnershipLost } from "../model/errors.ts";
import { pause, type Surroundings } from "../model/surroundings.ts";
import type { LinkState } from "../store/tables/links.ts";
import type { Lane } from "./lane.ts";
import type { LinkKey } from "./link-key.ts";

export interface FollowerParts {
  readonly link: LinkKey;
  readonly token: string;
  readonly connector: Connector;
  readonly lane: Lane;
  /** Makes a link's state durable; rejects when the store can't. */
  readonly record: (state: LinkState, reason: string) => Promise<void>;
  readonly surroundings: Surroundings;
}

/**
 * Follows one linked account for as long as this node owns it: a stream, a pause, the next stream. Its state is what the
 * link shows; the store gets it as soon as it can.
 */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #stopped = new AbortController();
  /** On which stream an account came, and when: only the present stream's accounts make the link live. */
  readonly #received = new WeakMap<Account, { readonly stream: AbortController; readonly timeMs: number }>();
  #stream: AbortController | undefined;
  #state: { readonly state: LinkState; readonly reason: string };
  #recorded: { readonly state: LinkState; readonly reason: string };
  #recording: Promise<void> | undefined;
  #run: Promise<void> = Promise.resolve();
  #confirmedMs: number;
  #failures = 0;

  constructor(parts: FollowerParts, state: LinkState, reason: string, confirmedMs: number) {
    this.#parts = parts;
    this.#recorded = { state, reason };
    this.#state = state === "live" ? { state: "waiting", reason: "starting" } : this.#recorded;
    this.#confirmedMs = confirmedMs;
  }

  get state(): LinkState {
    return this.#state.state;
  }

  get reason(): string {
    return this.#state.reason;
  }

  get confirmedMs(): number {
    return this.#confirmedMs;
  }

  start(): void {
    if (this.#state.state !== "needs_reauth") this.#run = this.#follow();
  }

  /** The lane has stored an account: the link is live when it came on the stream that is open now. */
  stored(account: Account): void {
    const received = this.#received.get(account);
    if (!received) return;
    this.#confirmedMs = Math.max(this.#confirmedMs, received.timeMs);
    if (received.stream === this.#stream && !received.stream.signal.aborted) this.#enter("live", "");
  }

  isFollowingWith(token: string): boolean {
    return token === this.#parts.token && this.#state.state !== "needs_reauth" && !this.#stopped.signal.aborted;
  }

  /** Ends the stream, lets the lane finish what it is at, and tells the store once more how the link stands. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#stream?.abort();
    await this.#run;
    await this.#parts.lane.idle();
    await this.#recording;
  }

  async #follow(): Promise<void> {
    const { token, connector, surroundings } = this.#parts;
    while (!this.#stopped.signal.aborted) {
      this.#stream = new AbortController();
      const stream = this.#stream;
      let hasAccount = false;
      const end = await connector.follow(
        token,
        {
          account: (account) => {
            hasAccount = true;
            this.#received.set(account, { stream, timeMs: surroundings.nowMs() });
            this.#parts.lane.offer(account, this.#stopped.signal);
          },
          unchanged: () => this.#repeated(stream),
        },
        stream.signal,
      );
      stream.abort();
      if (this.#stopped.signal.aborted) return;
      this.#failures = hasAccount ? 0 : this.#failures + 1;
      if (end.reason === "unauthorized") return this.#enter("needs_reauth", end.detail);
      this.#enter("waiting", describe(end));
      await pause(surroundings, connector.pauseMs(end, this.#failures, surroundings.random), this.#stopped.signal);
    }
  }

  /** The same bytes again confirm the state once those before them are stored. */
  #repeated(stream: AbortController): void {
    const timeMs = this.#parts.surroundings.nowMs();
    void this.#parts.lane.idle().then(() => {
      if (stream === this.#stream && this.#state.state === "live")
        this.#confirmedMs = Math.max(this.#confirmedMs, timeMs);
    });
  }

  #enter(state: LinkState, reason: string): void {
    if (this.#state.state === state && this.#state.reason === reason) return;
    const hasChanged = this.#state.state !== state;
    this.#state = { state, reason };
    if (hasChanged) {
      const { userId, deviceId, ecosystem } = this.#parts.link;
      this.#parts.surroundings.report.info({ userId, deviceId, ecosystem, state, reason }, `the link is ${state}`);
    }
    this.#recording ??= this.#record();
  }

  /** Until the store has what is so; while it can't be reached, what changes meanwhile is written once, not each time. */
  async #record(): Promise<void> {
    try {
      while (this.#recorded !== this.#state) {
        const { state, reason } = this.#state;
        const recording = this.#state;
        try {
          await this.#parts.record(state, reason);
          this.#recorded = recording;
        } catch (error) {
          if (error instanceof OwnershipLost || this.#stopped.signal.aborted) return;
          await pause(this.#parts.surroundings, 1_000, this.#stopped.signal);
        }
      }
    } finally {
      // In the same turn as the last look at the state: what is entered after it starts a recording of its own.
      this.#recording = undefined;
    }
  }
}

function describe(end: StreamEnd): string {
  return `${end.reason}: ${end.detail}`;
}
