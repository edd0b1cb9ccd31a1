import type { StreamEnd, StreamEndReason, StreamListener } from "../../src/ecosystem/connector.ts";
import type { Account } from "../../src/model/account.ts";
import type { HomeTruth, StreamLife } from "./history.ts";
import type { Process, Scheduler } from "./scheduler.ts";
import { userOf } from "./tokens.ts";

/** What was seen of a home: `isClear` when it is whole and can be read. */
export interface Look {
  readonly account: Account;
  readonly home: HomeTruth;
  readonly isClear: boolean;
}

export interface StreamParts {
  readonly scheduler: Scheduler;
  readonly process: Process;
  readonly token: string;
  readonly listener: StreamListener;
  readonly resolve: (end: StreamEnd) => void;
  /** Told just before the listener is. */
  readonly delivers: (look: Look | "unchanged") => void;
}

const watchdogMs = 70_000;

/** One connection: what is sent arrives in order, each after a while of its own. */
export class Stream {
  readonly process: Process;
  readonly token: string;
  readonly userId: number;
  readonly life: { -readonly [Field in keyof StreamLife]: StreamLife[Field] };
  /** It has its keep-alives, and nothing else any more. */
  isWithholding = false;
  hasEnded = false;
  readonly #parts: StreamParts;
  readonly #underWay: (Look | "unchanged")[] = [];
  #silentSinceMs: number | undefined;
  #heardMs = 0;
  #withheldSinceMs: number | undefined;
  /** When its node last had the account. */
  #lastMs = 0;
  #isUnsettled = false;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    this.process = parts.process;
    this.token = parts.token;
    this.userId = userOf(parts.token);
    const { userId, token } = this;
    this.life = { userId, token, node: this.process.name, firstMs: null, deafMs: null, endedMs: null };
  }

  /** Not even keep-alives come any more; its node gives it up after a while. */
  fallSilent(): void {
    if (this.isSilent) return;
    const { scheduler } = this.#parts;
    this.#silentSinceMs = scheduler.nowMs;
    // A node that stands still hears the last of it when it goes on.
    scheduler.after(0, this.process, `stream of ${this.token} is heard for the last time`, () => {
      this.#heardMs = scheduler.nowMs;
      scheduler.after(watchdogMs, this.process, "watchdog", () => this.end("silent"));
    });
    // What is under way is lost with it.
    this.#underWay.length = 0;
  }

  get isSilent(): boolean {
    return this.#silentSinceMs !== undefined;
  }

  push(look: Look | "unchanged"): void {
    if (this.hasEnded) return;
    if (this.isWithholding) this.#withheldSinceMs ??= this.#parts.scheduler.nowMs;
    if (this.isWithholding || this.isSilent) return;
    this.#underWay.push(look);
    if (this.#underWay.length === 1) this.#deliverNext();
  }

  end(reason: StreamEndReason, isFoundOut = false): void {
    if (this.hasEnded) return;
    const { scheduler, resolve } = this.#parts;
    this.hasEnded = true;
    this.life.endedMs = scheduler.nowMs;
    // Only a deafness that its node came to know of can stand in its record.
    if (reason === "silent") this.life.deafMs = this.#silentSinceMs ?? null;
    // What was under way when it began to withhold still came, and a read may have settled what was incomplete.
    if (isFoundOut) this.life.deafMs = Math.max(this.#withheldSinceMs ?? 0, this.#lastMs);
    this.#underWay.length = 0;
    scheduler.after(0, this.process, `stream of ${this.token} ends: ${reason}`, () => {
      const unheard = reason === "silent" ? { unheardMs: scheduler.nowMs - this.#heardMs } : {};
      resolve({ reason, detail: `the stream ended (${reason})`, ...unheard });
    });
  }

  /** Its node has read the account: to settle what was incomplete, or to check what seemed complete. */
  readBeside(isClear: boolean): void {
    if (this.#isUnsettled) this.#lastMs = this.#parts.scheduler.nowMs;
    this.#isUnsettled = !isClear;
  }

  /** Its node is dead. */
  die(): void {
    this.hasEnded = true;
    this.life.endedMs ??= this.#parts.scheduler.nowMs;
  }

  #deliverNext(): void {
    const { scheduler, listener, delivers } = this.#parts;
    const { dice } = scheduler;
    const delayMs = dice.chance(0.1) ? dice.between(50, 1_500) : dice.between(0, 40);
    scheduler.after(delayMs, this.process, `stream of ${this.token} delivers`, () => {
      const look = this.#underWay.shift();
      if (look === undefined || this.hasEnded) return;
      this.#lastMs = scheduler.nowMs;
      delivers(look);
      if (look === "unchanged") listener.unchanged();
      else {
        this.#isUnsettled = !look.isClear;
        this.life.firstMs ??= scheduler.nowMs;
        listener.account(look.account);
      }
      if (this.#underWay.length > 0) this.#deliverNext();
    });
  }
}
