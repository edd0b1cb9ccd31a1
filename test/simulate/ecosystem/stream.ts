import { isDeepStrictEqual } from "node:util";
import type { StreamEnd, StreamEndReason, StreamListener } from "../../../src/ecosystems/connector.ts";
import type { Home as ReportedHome } from "../../../src/home/home.ts";
import { userOf } from "../actors/tokens.ts";
import type { HomeTruth, StreamLife } from "../checks/history.ts";
import type { Process, Scheduler } from "../scheduler.ts";

/** A snapshot of a home; `isClear` when it is complete and readable. */
export interface Look {
  readonly reported: ReportedHome;
  readonly home: HomeTruth;
  readonly isClear: boolean;
}

export interface StreamParts {
  readonly scheduler: Scheduler;
  readonly process: Process;
  readonly token: string;
  readonly listener: StreamListener;
  readonly resolve: (end: StreamEnd) => void;
  /** Called just before the listener. */
  readonly delivers: (look: Look | "unchanged") => void;
}

const watchdogMs = 70_000;

/** One connection: events arrive in order, each after its own delay. */
export class Stream {
  readonly process: Process;
  readonly token: string;
  readonly userId: number;
  readonly life: { -readonly [Field in keyof StreamLife]: StreamLife[Field] };
  /** The stream sends only keep-alives. */
  isWithholding = false;
  hasEnded = false;
  readonly #parts: StreamParts;
  readonly #inFlight: (Look | "unchanged")[] = [];
  #silentSinceMs: number | undefined;
  #lastByteMs = 0;
  #withheldSinceMs: number | undefined;
  /** Until then the node can know that the stream has sent all changes. */
  #lastMs = 0;
  /** The home as the node last received it, on the stream or by a read. */
  #lastHome: HomeTruth | undefined;
  /** The last account was incomplete. */
  #isUnsettled = false;
  /** A read found changes, and nothing was delivered since. */
  #isBehind = false;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.process = parts.process;
    this.token = parts.token;
    this.userId = userOf(parts.token);
    const { userId, token } = this;
    this.life = { userId, token, node: this.process.name, firstMs: null, deafSinceMs: null, endedMs: null };
  }

  /** Not even keep-alives are sent; the node gives the stream up after a while. */
  fallSilent(): void {
    if (this.isSilent) return;
    const { scheduler } = this.#parts;
    this.#silentSinceMs = scheduler.nowMs;
    // A frozen node processes its last events when it thaws.
    scheduler.after(0, this.process, `stream of ${this.token} delivers its last event`, () => {
      this.#lastByteMs = scheduler.nowMs;
      scheduler.after(watchdogMs, this.process, "watchdog", () => this.end("silent"));
    });
    // Events in flight are lost.
    this.#inFlight.length = 0;
  }

  get isSilent(): boolean {
    return this.#silentSinceMs !== undefined;
  }

  push(look: Look | "unchanged"): void {
    if (this.hasEnded) return;
    if (this.isWithholding) this.#withheldSinceMs ??= this.#parts.scheduler.nowMs;
    if (this.isWithholding || this.isSilent) return;
    this.#inFlight.push(look);
    if (this.#inFlight.length === 1) this.#deliverNext();
  }

  end(reason: StreamEndReason, isDetected = false): void {
    if (this.hasEnded) return;
    const { scheduler, resolve } = this.#parts;
    this.hasEnded = true;
    this.life.endedMs = scheduler.nowMs;
    // The node's record can hold only a silence that the node noticed.
    if (reason === "silent") this.life.deafSinceMs = this.#silentSinceMs ?? null;
    // Events in flight when the withholding began were still delivered, and reads may have found nothing new.
    if (isDetected) this.life.deafSinceMs = Math.max(this.#withheldSinceMs ?? 0, this.#lastMs);
    this.#inFlight.length = 0;
    scheduler.after(0, this.process, `stream of ${this.token} ends: ${reason}`, () => {
      const unheard = reason === "silent" ? { unheardMs: scheduler.nowMs - this.#lastByteMs } : {};
      resolve({ reason, detail: `the stream ended (${reason})`, ...unheard });
    });
  }

  /**
   * The node has read the account beside the stream. A read that finds the home as it was shows that the stream has
   * sent everything. A read that finds changes does not: the stream may have kept them back. After an incomplete
   * account the node cannot tell.
   */
  noteRead({ home, isClear }: Look): void {
    const isSame = isDeepStrictEqual(home, this.#lastHome);
    const isProof = isSame && !this.#isBehind;
    if (isProof || this.#isUnsettled) this.#lastMs = this.#parts.scheduler.nowMs;
    else if (isClear) this.#isBehind = true;
    this.#isUnsettled = !isClear;
    this.#lastHome = home;
  }

  /** The node has died. */
  die(): void {
    this.hasEnded = true;
    this.life.endedMs ??= this.#parts.scheduler.nowMs;
  }

  #deliverNext(): void {
    const { scheduler, listener, delivers } = this.#parts;
    const { dice } = scheduler;
    const delayMs = dice.chance(0.1) ? dice.between(50, 1_500) : dice.between(0, 40);
    scheduler.after(delayMs, this.process, `stream of ${this.token} delivers`, () => {
      const look = this.#inFlight.shift();
      if (look === undefined || this.hasEnded) return;
      this.#lastMs = scheduler.nowMs;
      this.#isBehind = false;
      delivers(look);
      if (look === "unchanged") listener.unchanged();
      else {
        this.#isUnsettled = !look.isClear;
        this.#lastHome = look.home;
        this.life.firstMs ??= scheduler.nowMs;
        listener.home(look.reported);
      }
      if (this.#inFlight.length > 0) this.#deliverNext();
    });
  }
}
