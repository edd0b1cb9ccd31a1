import type { Connector } from "../ecosystem/connector.ts";
import type { Account } from "../model/account.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../model/errors.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";

export interface SecondLookParts {
  readonly connector: Connector;
  readonly token: string;
  readonly runtime: Runtime;
  /** What was read, and what it was read for: `settles` an incomplete snapshot, or `checks` a quiet stream. */
  readonly seen: (account: Account, purpose: "settles" | "checks") => void;
  /** The ecosystem no longer takes the token. */
  readonly refused: () => void;
  /** An unexpected error: the look has failed for another reason than the ecosystem's answer. */
  readonly failed: (error: unknown) => void;
  readonly signal: AbortSignal;
}

const quietMs = 10 * 60_000;
const settleFromMs = 2_000;
const unreachableMs = 60_000;
const mostDoublings = 10;

/**
 * A stream can stay alive with keep-alives while changes no longer come, and a snapshot can leave something open. Either
 * is settled by reading the account once: ten minutes after the last snapshot, or soon after an incomplete one (and ever
 * later while it stays so). What the stream sends meanwhile is newer and goes before.
 */
export class SecondLook {
  readonly #parts: SecondLookParts;
  /** The look that is planned; none while one is under way. */
  #planned: Cancel | undefined;
  /** Rises with each plan: what was read for an earlier one is overtaken. */
  #turn = 0;
  #isIncomplete = false;
  /** How often a whole account was needed, and how many of these needs a whole account has settled since. */
  #doubts = 0;
  #settledDoubts = 0;
  /** Looks in a row that were taken because something was open. */
  #settlingLooks = 0;
  /** Whether the look that is planned is taken because something is open. */
  #isPlannedSoon = false;
  /** The plan whose look is under way. */
  #lookingFor = -1;

  constructor(parts: SecondLookParts) {
    this.#parts = parts;
  }

  /** The stream has sent the account; undefined when it was the same as before. */
  heard(account: Account | undefined): void {
    if (account) this.#settledDoubts = this.#doubts;
    const isStillOpen = account ? this.#isIncomplete && account.oddities.incomplete > 0 : this.#isOpen;
    // A home that talks all the time must not put off the look that it needs.
    if (isStillOpen && this.#planned) return;
    if (account) this.#judge(account);
    this.#plan();
  }

  /**
   * A whole account is needed: the stream has sent a part of one, or a fan request waits for its confirmation. A read
   * follows soon, and ever later while the stream brings nothing whole in between.
   */
  doubted(): void {
    this.#doubts += 1;
    // What a look under way reads may be from before this part: the next one is planned when it ends.
    const isLooking = !this.#planned && this.#lookingFor === this.#turn;
    if (!isLooking && !(this.#planned && this.#isPlannedSoon)) this.#plan();
  }

  /** There is no stream: the next one opens with a snapshot. */
  rest(): void {
    this.#turn += 1;
    this.#planned?.();
    this.#planned = undefined;
    this.#isIncomplete = false;
    this.#settledDoubts = this.#doubts;
    this.#settlingLooks = 0;
  }

  get #isDoubted(): boolean {
    return this.#doubts > this.#settledDoubts;
  }

  get #isOpen(): boolean {
    return this.#isIncomplete || this.#isDoubted;
  }

  #judge(account: Account): void {
    this.#isIncomplete = account.oddities.incomplete > 0;
    if (!this.#isIncomplete) this.#settlingLooks = 0;
  }

  #plan(delayMs = this.#nextMs()): void {
    this.#planned?.();
    this.#turn += 1;
    this.#isPlannedSoon = this.#isOpen;
    const turn = this.#turn;
    // Jittered, so that ten thousand quiet accounts are not read in the same second.
    const { after, random } = this.#parts.runtime;
    this.#planned = after(delayMs * (0.9 + 0.2 * random()), () => {
      this.#planned = undefined;
      this.#look(turn).catch((error) => this.#parts.failed(error));
    });
  }

  #nextMs(): number {
    return this.#isOpen ? Math.min(quietMs, settleFromMs * 2 ** this.#settlingLooks) : quietMs;
  }

  async #look(turn: number): Promise<void> {
    const { seen, signal } = this.#parts;
    const purpose = this.#isOpen ? "settles" : "checks";
    const doubts = this.#doubts;
    const wasDoubted = this.#isDoubted;
    this.#lookingFor = turn;
    const account = await this.#read(turn);
    if (!account) return;
    if (turn !== this.#turn || signal.aborted) return;
    const looks = this.#isOpen ? Math.min(this.#settlingLooks + 1, mostDoublings) : 0;
    this.#settledDoubts = doubts;
    this.#settlingLooks = looks;
    this.#judge(account);
    // A stream that goes on sending parts must not have the account read every two seconds.
    if (wasDoubted) this.#settlingLooks = looks;
    this.#plan();
    seen(account, purpose);
  }

  /** Undefined when the ecosystem refused or could not be reached: what follows from that is done here. */
  async #read(turn: number): Promise<Account | undefined> {
    const { connector, token, refused, signal } = this.#parts;
    try {
      return await connector.read(token, signal);
    } catch (error) {
      if (turn !== this.#turn || signal.aborted) return undefined;
      if (error instanceof EcosystemRefused) refused();
      else if (error instanceof EcosystemUnreachable) this.#plan(unreachableMs);
      else throw error;
      return undefined;
    }
  }
}
