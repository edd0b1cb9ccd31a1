import type { Connector, StreamEnd, StreamListener } from "../ecosystem/connector.ts";
import type { Account } from "../model/account.ts";
import { pause, type Runtime } from "../runtime/runtime.ts";
import type { Admission } from "./admission.ts";
import type { Lane } from "./lane.ts";
import type { FailLink } from "./link-faults.ts";
import type { LinkRecord } from "./link-record.ts";
import { SecondLook } from "./second-look.ts";

export interface FollowerParts {
  readonly token: string;
  readonly connector: Connector;
  readonly lane: Lane;
  readonly record: LinkRecord;
  readonly admission: Admission;
  readonly runtime: Runtime;
  /** Ends this follower and its lane. */
  readonly stopping: AbortController;
  readonly failed: FailLink;
}

/** How an account reached us. */
interface Receipt {
  readonly stream: AbortController;
  /** On this node's own unjumping clock. */
  readonly receivedMs: number;
  readonly by: "stream" | "settles" | "checks";
}

/** A stream that ends sooner has failed, even if it brought an account: else one that breaks at once would loop. */
const shortestLifeMs = 100;

/**
 * Follows one linked account for as long as this node owns it: a stream, a pause, the next stream, and a second look
 * where a stream leaves something open.
 */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #secondLook: SecondLook;
  /** Only the present stream's accounts make the link live. */
  readonly #receipts = new WeakMap<Account, Receipt>();
  #stream: AbortController | undefined;
  #run: Promise<void> = Promise.resolve();
  #confirmedMs: number;
  #failures = 0;
  #drifts = 0;
  #partialPuts = 0;

  constructor(parts: FollowerParts, confirmedMs: number) {
    this.#parts = parts;
    this.#confirmedMs = confirmedMs;
    this.#secondLook = new SecondLook({
      ...parts,
      signal: parts.stopping.signal,
      seen: (account, purpose) => this.#receive(account, this.#stream, purpose),
      refused: () => this.#stream?.abort("the token was refused"),
      failed: (error) => parts.failed("second_look", error),
    });
  }

  get isLive(): boolean {
    return this.#parts.record.standing.state === "live";
  }

  /** Whoever takes over counts from then: not from before what is told as blind already. */
  get confirmedMs(): number {
    return Math.max(this.#confirmedMs, this.#parts.record.toldUntilMs);
  }

  /** How often a second look found what the stream had kept back. */
  get drifts(): number {
    return this.#drifts;
  }

  /** How often the stream sent a part instead of the whole account. */
  get partialPuts(): number {
    return this.#partialPuts;
  }

  /** Reads the account soon, unless the stream brings it before. Without a stream, the next one opens with it. */
  readSoon(): void {
    if (this.#stream && !this.#stream.signal.aborted) this.#secondLook.doubted();
  }

  start(): void {
    const { record, failed } = this.#parts;
    if (record.standing.state === "needs_reauth") return;
    this.#run = this.#follow().catch((error) => failed("stream", error));
  }

  /** The lane has stored an account: the link is live when it came while this stream was open. */
  stored(account: Account, hasChanged: boolean): void {
    const receipt = this.#receipts.get(account);
    if (!receipt) return;
    const { runtime, record } = this.#parts;
    const nowMs = runtime.nowMs();
    const unconfirmedMs = Math.max(0, nowMs - this.#confirmedMs);
    const storingMs = Math.ceil(runtime.elapsedMs() - receipt.receivedMs);
    this.#confirm(nowMs - storingMs);
    if (receipt.stream !== this.#stream || receipt.stream.signal.aborted) return;
    record.enter("live", "", storingMs);
    if (receipt.by === "checks" && hasChanged) this.#drift(unconfirmedMs);
  }

  isFollowingWith(token: string): boolean {
    const { record, stopping } = this.#parts;
    return token === this.#parts.token && record.standing.state !== "needs_reauth" && !stopping.signal.aborted;
  }

  /** Ends the stream, and lets the lane finish its commit. */
  async stop(): Promise<void> {
    this.#parts.stopping.abort();
    this.#stream?.abort();
    this.#secondLook.rest();
    await this.#run;
    await this.#parts.lane.idle();
  }

  async #follow(): Promise<void> {
    const { connector, runtime, record, admission, stopping, failed } = this.#parts;
    const { signal } = stopping;
    for (;;) {
      await admission.admit(signal);
      if (signal.aborted) return;
      const stream = new AbortController();
      this.#stream = stream;
      let firstMs: number | undefined;
      const listener: StreamListener = {
        account: (account) => {
          firstMs ??= runtime.elapsedMs();
          this.#secondLook.heard(account);
          this.#receive(account, stream, "stream");
        },
        unchanged: () => this.#repeated(stream),
        partial: () => {
          this.#partialPuts += 1;
          this.#secondLook.doubted();
        },
      };
      const end = await this.#connect(guarded(listener, failed), stream.signal);
      stream.abort();
      this.#secondLook.rest();
      if (signal.aborted) return;
      if (end.error !== undefined) return failed("stream", end.error);
      const lived = firstMs !== undefined && runtime.elapsedMs() - firstMs >= shortestLifeMs;
      this.#failures = lived ? 0 : this.#failures + 1;
      if (end.reason === "unauthorized") return record.enter("needs_reauth", end.detail);
      record.enter("waiting", describe(end, stream.signal.reason), end.unheardMs);
      await pause(runtime, connector.pauseMs(end, this.#failures, runtime.random), signal);
    }
  }

  /** A connector never throws. If one does, that is a defect of ours, and it ends this link's stream only. */
  async #connect(listener: StreamListener, signal: AbortSignal): Promise<StreamEnd> {
    const { connector, token } = this.#parts;
    try {
      return await connector.follow(token, listener, signal);
    } catch (error) {
      return { reason: "malformed", detail: "the connector failed", error };
    }
  }

  #receive(account: Account, stream: AbortController | undefined, by: Receipt["by"]): void {
    if (!stream || stream.signal.aborted) return;
    const { lane, runtime, stopping } = this.#parts;
    // What the stream brought may still wait for the store: then a check that differs proves nothing against the stream.
    const purpose = by === "checks" && !lane.isIdle ? "settles" : by;
    this.#receipts.set(account, { stream, by: purpose, receivedMs: runtime.elapsedMs() });
    lane.offer(account, stopping.signal);
  }

  /** The same bytes again confirm the state once those before them are stored. */
  #repeated(stream: AbortController): void {
    const timeMs = this.#parts.runtime.nowMs();
    this.#secondLook.heard(undefined);
    const confirm = () => {
      // An end of the stream may have given them up.
      const isPresent = stream === this.#stream && !stream.signal.aborted;
      if (isPresent && this.isLive) this.#confirm(timeMs);
    };
    this.#parts.lane
      .idle()
      .then(confirm)
      .catch((error) => this.#parts.failed("stream", error));
  }

  #confirm(timeMs: number): void {
    this.#confirmedMs = Math.max(this.#confirmedMs, timeMs);
    this.#parts.record.confirmed(this.#confirmedMs);
  }

  /**
   * The stream lives and says nothing of what has changed: a new one begins with the truth. Nobody knows when it fell
   * silent, so what happened since the last confirmation may have gone unseen.
   */
  #drift(unconfirmedMs: number): void {
    const reason = "the stream kept back changes";
    this.#drifts += 1;
    this.#parts.runtime.report.warn({ drifts: this.#drifts }, `${reason}; opening another`);
    this.#parts.record.enter("waiting", reason, unconfirmedMs);
    this.#stream?.abort(reason);
  }
}

/** The connector calls its listener from socket callbacks, where nothing would catch an error. */
function guarded(listener: StreamListener, failed: FailLink): StreamListener {
  const guard = <Given extends readonly unknown[]>(act: (...given: Given) => void) => {
    return (...given: Given) => {
      try {
        act(...given);
      } catch (error) {
        failed("stream", error);
      }
    };
  };
  return {
    account: guard(listener.account),
    unchanged: guard(listener.unchanged),
    partial: guard(listener.partial),
  };
}

/** In our own words when it was us who ended the stream. */
function describe(end: StreamEnd, ours: unknown): string {
  return end.reason === "stopped" && typeof ours === "string" ? ours : `${end.reason}: ${end.detail}`;
}
