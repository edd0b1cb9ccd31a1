import type { Connector } from "../ecosystems/connector.ts";
import type { Home } from "../home/home.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../model/errors.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import { completedHome } from "./completed-home.ts";
import { readAccount } from "./connector-calls.ts";

export interface SecondLookParts {
  readonly connector: Connector;
  /** The access token that is valid now. */
  readonly token: () => string;
  readonly runtime: Runtime;
  /**
   * Called with the account and the purpose of the read: `completes` an incomplete snapshot, or `checks` a quiet stream.
   */
  readonly received: (home: Home, purpose: "completes" | "checks") => void;
  /** Called when the ecosystem refuses the token. */
  readonly refused: () => void;
  /** Called with an unexpected error, which is not an answer of the ecosystem. */
  readonly failed: (error: unknown) => void;
  readonly signal: AbortSignal;
}

const quietMs = 10 * 60_000;
const completeFromMs = 2_000;
/** Longest pause between reads that do show the whole account, while the stream stays incomplete. */
const completedAtMostMs = 60_000;
const unreachableMs = 60_000;
const maximalDoublings = 10;
/** Node.js keeps a list for each duration of timers. Longer delays are whole seconds, so that links share lists. */
const sharedFromMs = 60_000;

/**
 * Reads the account beside its stream, because a stream can send keep-alives but no more changes, and a snapshot can be
 * incomplete. A read follows ten minutes after the last snapshot, or soon after an incomplete one (with growing pauses
 * between the reads while the stream stays incomplete). A snapshot that the stream sends meanwhile is newer and wins;
 * what it leaves out is taken from the read. The read may be older than the change that this snapshot announced, so
 * another one follows.
 */
export class SecondLook {
  readonly #parts: SecondLookParts;
  /** When the planned read is due, on this node's monotonic clock; undefined while a read is in progress. */
  #dueMs: number | undefined;
  /** One timer for many plans: a stream that sends all the time postpones the read without setting a timer each time. */
  #timer: { readonly firesMs: number; readonly cancel: Cancel } | undefined;
  /** Rises with each plan: a read for an earlier plan is outdated. */
  #turn = 0;
  #isIncomplete = false;
  /** How often a whole account was requested, and how many of these requests were answered with one. */
  #requests = 0;
  #answeredRequests = 0;
  /**
   * Number of completing reads since the stream last sent a whole account. A completing read is a read because something
   * was incomplete.
   */
  #completingReads = 0;
  /**
   * The last completing read: when it ended or was outdated, on this node's monotonic clock. `wasWhole` is false when the
   * account was incomplete even with it.
   */
  #lastCompletingRead = { endedMs: 0, wasWhole: false };
  /** Whether the planned read is a completing read. */
  #isPlannedReadCompleting = false;
  /** The plan whose read is in progress; -1 when there is none. */
  #readingFor = -1;
  /** What incomplete snapshots showed since the read in progress began. */
  #sentMeanwhile: Home | undefined;

  constructor(parts: SecondLookParts) {
    this.#parts = parts;
  }

  /** Called when the stream has sent the account; undefined when it was the same as before. */
  streamSent(home: Home | undefined): void {
    if (home) this.#answeredRequests = this.#requests;
    const stillNeedsCompletion = home ? this.#isIncomplete && home.oddities.incomplete > 0 : this.#needsCompletion;
    // A stream that sends all the time must not postpone the read that it needs.
    if (stillNeedsCompletion && this.#isPlanned) return;
    if (stillNeedsCompletion && this.#isReading) {
      // Keep the read in progress: a stream that sends faster than an account is read would never be completed.
      if (home) {
        this.#sentMeanwhile = this.#sentMeanwhile ? completedHome(home, this.#sentMeanwhile) : home;
        return;
      }
      // The stream does not repeat what the older read would change: the read is outdated, and the next one comes later.
      this.#countCompletingRead(true);
    }
    if (home) this.#isIncomplete = home.oddities.incomplete > 0;
    if (home && !this.#isIncomplete) this.#completingReads = 0;
    this.#plan();
  }

  /**
   * Requests a whole account: the stream has sent a part of one, or a fan request waits for its confirmation. The read
   * follows soon, with growing pauses while the stream sends no whole account in between.
   */
  requestAccount(): void {
    this.#requests += 1;
    // The read in progress may be older than this request: the next one is planned when it ends.
    if (!this.#isReading && !(this.#isPlanned && this.#isPlannedReadCompleting)) this.#plan();
  }

  /** The stream has ended: nothing to read, because the next one begins with a snapshot. */
  streamEnded(): void {
    this.#turn += 1;
    this.#dueMs = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#isIncomplete = false;
    this.#answeredRequests = this.#requests;
    this.#completingReads = 0;
  }

  get #isPlanned(): boolean {
    return this.#dueMs !== undefined;
  }

  /** Whether a read is in progress that is still of use. */
  get #isReading(): boolean {
    return this.#readingFor === this.#turn;
  }

  get #isRequested(): boolean {
    return this.#requests > this.#answeredRequests;
  }

  get #needsCompletion(): boolean {
    return this.#isIncomplete || this.#isRequested;
  }

  #plan(delayMs = this.#nextMs()): void {
    this.#turn += 1;
    this.#isPlannedReadCompleting = this.#needsCompletion;
    const { elapsedMs, random } = this.#parts.runtime;
    // Jittered, so that ten thousand quiet accounts are not read in the same second.
    this.#dueMs = elapsedMs() + delayMs * (0.9 + 0.2 * random());
    if (!this.#timer || this.#dueMs < this.#timer.firesMs) this.#wakeAt(this.#dueMs);
  }

  #wakeAt(dueMs: number): void {
    this.#timer?.cancel();
    const { after, elapsedMs } = this.#parts.runtime;
    const nowMs = elapsedMs();
    const stepMs = dueMs - nowMs > sharedFromMs ? 1_000 : 1;
    const delayMs = Math.ceil((dueMs - nowMs) / stepMs) * stepMs;
    this.#timer = { firesMs: nowMs + delayMs, cancel: after(delayMs, () => this.#wake()) };
  }

  #wake(): void {
    this.#timer = undefined;
    if (this.#dueMs !== undefined && this.#dueMs > this.#parts.runtime.elapsedMs()) this.#wakeAt(this.#dueMs);
    else {
      this.#dueMs = undefined;
      this.#look(this.#turn).catch((error) => this.#parts.failed(error));
    }
  }

  #nextMs(): number {
    if (!this.#needsCompletion) return quietMs;
    if (this.#completingReads === 0) return completeFromMs;
    const { endedMs, wasWhole } = this.#lastCompletingRead;
    const pauseMs = Math.min(wasWhole ? completedAtMostMs : quietMs, completeFromMs * 2 ** this.#completingReads);
    // The pause counts from the last read: a stream that rarely sends is read soon each time.
    return Math.max(completeFromMs, endedMs + pauseMs - this.#parts.runtime.elapsedMs());
  }

  async #look(turn: number): Promise<void> {
    const { received, signal } = this.#parts;
    const purpose = this.#needsCompletion ? "completes" : "checks";
    const requests = this.#requests;
    this.#readingFor = turn;
    this.#sentMeanwhile = undefined;
    const read = await this.#read(turn).finally(() => {
      if (this.#readingFor === turn) this.#readingFor = -1;
    });
    if (!read) return;
    if (turn !== this.#turn || signal.aborted) return;
    const sentMeanwhile = this.#sentMeanwhile;
    const home = sentMeanwhile ? completedHome(sentMeanwhile, read) : read;
    const isWhole = home.oddities.incomplete === 0;
    // Kept though the read is whole: a stream that keeps sending parts must not cause a read every two seconds.
    if (this.#needsCompletion) this.#countCompletingRead(isWhole);
    else this.#completingReads = 0;
    this.#answeredRequests = Math.max(this.#answeredRequests, requests);
    // What the stream left out meanwhile may have changed after the ecosystem had answered the read.
    this.#isIncomplete = !isWhole || sentMeanwhile !== undefined;
    this.#plan();
    received(home, purpose);
  }

  #countCompletingRead(wasWhole: boolean): void {
    this.#completingReads = Math.min(this.#completingReads + 1, maximalDoublings);
    this.#lastCompletingRead = { endedMs: this.#parts.runtime.elapsedMs(), wasWhole };
  }

  /** Undefined when the ecosystem refused or could not be reached; both are handled here. */
  async #read(turn: number): Promise<Home | undefined> {
    const { connector, token, refused, runtime, signal } = this.#parts;
    try {
      return await readAccount(connector, token(), signal, runtime);
    } catch (error) {
      if (turn !== this.#turn || signal.aborted) return undefined;
      if (error instanceof EcosystemRefused) refused();
      else if (error instanceof EcosystemUnreachable) this.#plan(unreachableMs);
      else throw error;
      return undefined;
    }
  }
}
