import type { Connector, StreamEnd, StreamListener } from "../ecosystems/connector.ts";
import type { FollowedLink, KnownThing } from "../ecosystems/feed.ts";
import { newCpuShare } from "../ecosystems/kit/ingest-share.ts";
import type { Home } from "../home/home.ts";
import { pause, type Runtime } from "../runtime/runtime.ts";
import type { ConnectionRateLimiter } from "./admission.ts";
import { followAccount } from "./connector-calls.ts";
import type { Lane } from "./lane.ts";
import type { FollowedCredential } from "./link-credential.ts";
import type { FailLink } from "./link-faults.ts";
import type { LinkRecord } from "./link-record.ts";
import { SecondLook } from "./second-look.ts";
import { StreamCoverage } from "./stream-coverage.ts";

export interface FollowerParts {
  readonly credential: FollowedCredential;
  readonly connector: Connector;
  readonly lane: Lane;
  readonly record: LinkRecord;
  readonly admission: ConnectionRateLimiter;
  readonly runtime: Runtime;
  /** Ends this follower and its lane. */
  readonly stopping: AbortController;
  readonly failed: FailLink;
  /** Called when the account is read more slowly, because it took more than its share of CPU, or no longer so. */
  readonly slowed: (isSlowed: boolean) => void;
  readonly storedThings: () => Promise<ReadonlyMap<string, KnownThing>>;
  /** For a connector with a feed. */
  readonly link?: FollowedLink;
}

/** Where and when a snapshot was received. */
interface SnapshotOrigin {
  readonly stream: AbortController;
  /** On this node's monotonic clock. */
  readonly receivedMs: number;
  readonly by: "stream" | "completes" | "checks";
}

/**
 * A stream with a shorter life counts as failed, even if it brought an account: otherwise a stream that always breaks
 * at once would loop without back-off.
 */
const shortestLifeMs = 100;

/**
 * Follows one linked account while this node owns the link: a stream, a pause, the next stream, and second looks at
 * quiet or incomplete streams.
 */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #secondLook: SecondLook;
  readonly #coverage: StreamCoverage;
  /** Origins of the snapshots: only a snapshot of the current stream makes the link live. */
  readonly #origins = new WeakMap<Home, SnapshotOrigin>();
  readonly #cpuShare = newCpuShare();
  #stream: AbortController | undefined;
  #hasStreamSent = false;
  /** The stream is open, but its last home may not be current. */
  #isDoubtful = false;
  #run: Promise<void> = Promise.resolve();
  #confirmedMs: number;
  /** The time of the last confirmation on this node's monotonic clock. */
  #confirmedElapsedMs: number;
  #failures = 0;
  #drifts = 0;
  #partialPuts = 0;

  constructor(parts: FollowerParts, confirmedMs: number) {
    this.#parts = parts;
    this.#confirmedMs = confirmedMs;
    const { nowMs, elapsedMs } = parts.runtime;
    this.#confirmedElapsedMs = elapsedMs() - Math.max(0, nowMs() - confirmedMs);
    this.#coverage = new StreamCoverage(parts.runtime.elapsedMs);
    this.#secondLook = new SecondLook({
      ...parts,
      token: () => parts.credential.token,
      signal: parts.stopping.signal,
      received: (home, purpose) => this.#receive(home, this.#stream, purpose),
      refused: () => this.#stream?.abort("the token was refused"),
      failed: (error) => parts.failed("second_look", error),
    });
  }

  get isLive(): boolean {
    return this.#parts.record.standing.state === "live";
  }

  /**
   * The time from which another node counts the link as blind when it takes over. Not earlier than the end of the last
   * recorded blind interval.
   */
  get confirmedMs(): number {
    return Math.max(this.#confirmedMs, this.#parts.record.blindUntilMs);
  }

  /** For how long nothing has confirmed the account, whatever the clock was set to meanwhile. */
  get unconfirmedMs(): number {
    return this.#parts.runtime.elapsedMs() - this.#confirmedElapsedMs;
  }

  /** How often a second look found changes that the stream had not sent. */
  get drifts(): number {
    return this.#drifts;
  }

  /** How often the stream sent a part instead of the whole account. */
  get partialPuts(): number {
    return this.#partialPuts;
  }

  /**
   * Reads the account soon, unless the stream sends it first. Before the stream's first event nothing is to do, because
   * it begins with the account. A read must not make the link live then: events before the stream's first one can be
   * missed.
   */
  readSoon(): void {
    if (this.#hasStreamSent && !this.#stream?.signal.aborted) this.#secondLook.requestAccount();
  }

  /** Resolves when everything that was received is stored; with true when nothing was dropped meanwhile. */
  idle(): Promise<boolean> {
    return this.#parts.lane.idle();
  }

  start(): void {
    const { record, failed } = this.#parts;
    if (record.standing.state === "needs_reauth") return;
    this.#run = this.#follow().catch((error) => failed("stream", error));
  }

  /** Called when the lane has stored an account. The link is live if the account was received on the current stream. */
  stored(home: Home, hasChanged: boolean): void {
    const origin = this.#origins.get(home);
    if (!origin) return;
    const { runtime, record } = this.#parts;
    const storingMs = Math.ceil(runtime.elapsedMs() - origin.receivedMs);
    this.#confirm(runtime.nowMs() - storingMs, origin.receivedMs);
    if (origin.stream !== this.#stream || origin.stream.signal.aborted || this.#isDoubtful) return;
    const wasLive = this.isLive;
    record.enter("live", "", storingMs);
    if (!wasLive) this.#coverage.linkBecameLive(origin.receivedMs);
    else if (origin.by === "checks" && hasChanged) this.#drift();
    else if (origin.by !== "stream") this.#coverage.readStored(origin.receivedMs, hasChanged);
  }

  isFollowingWith(token: string): boolean {
    const { record, stopping } = this.#parts;
    return (
      token === this.#parts.credential.token && record.standing.state !== "needs_reauth" && !stopping.signal.aborted
    );
  }

  /** Ends the stream, and lets the lane finish its commit. */
  async stop(): Promise<void> {
    this.#parts.stopping.abort();
    this.#stream?.abort();
    this.#secondLook.streamEnded();
    await this.#run;
    await this.#parts.lane.stop();
  }

  async #follow(): Promise<void> {
    const { credential, connector, runtime, record, admission, stopping, failed } = this.#parts;
    const { signal } = stopping;
    for (;;) {
      await admission.admit(signal);
      if (signal.aborted) return;
      const stream = new AbortController();
      this.#stream = stream;
      this.#hasStreamSent = false;
      this.#isDoubtful = false;
      const { token } = credential;
      let firstMs: number | undefined;
      const listener: StreamListener = {
        home: (home) => {
          firstMs ??= runtime.elapsedMs();
          this.#streamSent(stream);
          credential.accepted(token);
          this.#secondLook.streamSent(home);
          this.#receive(home, stream, "stream");
        },
        unchanged: () => this.#repeated(stream),
        partial: () => {
          this.#partialPuts += 1;
          this.#streamSent(stream);
          this.#secondLook.requestAccount();
        },
        stored: () => this.#parts.lane.idle(),
        cpuShare: this.#cpuShare,
        takeCostMs: () => this.#parts.lane.takeCostMs(),
        slowed: (isSlowed) => this.#parts.slowed(isSlowed),
        storedThings: this.#parts.storedThings,
        doubtful: (doubt) => this.#doubt(doubt, stream),
        ...(this.#parts.link && { link: this.#parts.link }),
      };
      const end = await this.#connect(token, guarded(listener, failed, stream.signal), stream.signal);
      stream.abort();
      this.#parts.slowed(false);
      this.#secondLook.streamEnded();
      if (signal.aborted) return;
      if (end.error !== undefined) return failed("stream", end.error);
      const lived = firstMs !== undefined && runtime.elapsedMs() - firstMs >= shortestLifeMs;
      this.#failures = lived ? 0 : this.#failures + 1;
      if (end.reason === "unauthorized") credential.refused(token, "stream");
      if (end.reason === "unauthorized" && !credential.canReplace(token)) {
        return record.enter("needs_reauth", end.detail);
      }
      record.enter("waiting", describe(end, stream.signal.reason), end.unheardMs);
      if (end.reason === "unauthorized") {
        await credential.replace(token, signal);
        if (credential.token !== token) continue;
      }
      await pause(runtime, connector.pauseMs(end, this.#failures, runtime.random), signal);
    }
  }

  /** A connector must not throw. If it does, the defect ends only this link's stream. */
  async #connect(token: string, listener: StreamListener, signal: AbortSignal): Promise<StreamEnd> {
    const { connector, credential, runtime } = this.#parts;
    if (credential.isRefused(token)) return { reason: "unauthorized", detail: "the token was refused for a command" };
    try {
      return await followAccount(connector, token, listener, signal, runtime);
    } catch (error) {
      return { reason: "malformed", detail: "the connector failed", error };
    }
  }

  #receive(home: Home, stream: AbortController | undefined, by: SnapshotOrigin["by"]): void {
    if (!stream || stream.signal.aborted) return;
    const { lane, runtime, stopping } = this.#parts;
    // Snapshots of the stream may still wait in the lane. Then a difference does not prove a drift.
    const purpose = by === "checks" && !lane.isIdle ? "completes" : by;
    this.#origins.set(home, { stream, by: purpose, receivedMs: runtime.elapsedMs() });
    lane.offer(home, stopping.signal);
  }

  /** The link is not live while its last home may not be current. */
  #doubt(doubt: Parameters<NonNullable<StreamListener["doubtful"]>>[0], stream: AbortController): void {
    if (this.#isDoubtful === (doubt !== undefined)) return;
    this.#isDoubtful = doubt !== undefined;
    if (doubt) {
      if (this.isLive) this.#parts.record.enter("waiting", doubt.reason, doubt.forMs);
      return;
    }
    const settledMs = this.#parts.runtime.elapsedMs();
    const enterLive = () => {
      if (this.#isDoubtful || stream !== this.#stream || stream.signal.aborted || this.isLive) return;
      this.#parts.record.enter("live", "");
      this.#coverage.linkBecameLive(settledMs);
    };
    this.#parts.lane
      .idle()
      .then(enterLive)
      .catch((error) => this.#parts.failed("stream", error));
  }

  /** An equal put confirms the state as soon as the snapshot before it is stored. */
  #repeated(stream: AbortController): void {
    const { nowMs, elapsedMs } = this.#parts.runtime;
    const [timeMs, heardMs] = [nowMs(), elapsedMs()];
    this.#streamSent(stream);
    this.#secondLook.streamSent(undefined);
    const confirm = () => {
      // The snapshot before may have been dropped when the stream ended.
      const isPresent = stream === this.#stream && !stream.signal.aborted;
      if (isPresent && this.isLive) this.#confirm(timeMs, heardMs);
    };
    this.#parts.lane
      .idle()
      .then(confirm)
      .catch((error) => this.#parts.failed("stream", error));
  }

  #streamSent(stream: AbortController): void {
    if (stream.signal.aborted) return;
    this.#hasStreamSent = true;
    this.#coverage.streamSent();
  }

  /** `elapsedMs`: the same time on this node's monotonic clock. */
  #confirm(timeMs: number, elapsedMs: number): void {
    this.#confirmedElapsedMs = Math.max(this.#confirmedElapsedMs, elapsedMs);
    this.#confirmedMs = Math.max(this.#confirmedMs, timeMs);
    this.#parts.record.confirmed(this.#confirmedMs);
  }

  /**
   * Drift: the stream is open but did not send a change. A new stream begins with the true state. It is unknown when
   * the stream stopped sending changes, so the link has been blind for as long as nothing proves that it sent them.
   */
  #drift(): void {
    const reason = "the stream kept back changes";
    this.#drifts += 1;
    this.#parts.runtime.report.warn({ drifts: this.#drifts }, `${reason}; opening another`);
    this.#parts.record.enter("waiting", reason, this.#coverage.unprovenMs);
    this.#stream?.abort(reason);
  }
}

/**
 * Catches errors of the listener: the connector calls it from socket callbacks, where nothing else would. A stream that
 * this node has given up is no longer heard.
 */
function guarded(listener: StreamListener, failed: FailLink, signal: AbortSignal): StreamListener {
  const guard = <Arguments extends readonly unknown[]>(act: (...args: Arguments) => void) => {
    return (...args: Arguments) => {
      if (signal.aborted) return;
      try {
        act(...args);
      } catch (error) {
        failed("stream", error);
      }
    };
  };
  return {
    home: guard(listener.home),
    unchanged: guard(listener.unchanged),
    partial: guard(listener.partial),
    stored: listener.stored,
    ...(listener.storedThings && { storedThings: listener.storedThings }),
    ...(listener.cpuShare && { cpuShare: listener.cpuShare }),
    ...(listener.takeCostMs && { takeCostMs: listener.takeCostMs }),
    ...(listener.slowed && { slowed: guard(listener.slowed) }),
    ...(listener.doubtful && { doubtful: guard(listener.doubtful) }),
    ...(listener.link && { link: listener.link }),
  };
}

/** The reason of the end: the abort reason if this node ended the stream, otherwise the connector's. */
function describe(end: StreamEnd, abortReason: unknown): string {
  return end.reason === "stopped" && typeof abortReason === "string" ? abortReason : `${end.reason}: ${end.detail}`;
}
