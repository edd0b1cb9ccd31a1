import type { Connector } from "../ecosystem/connector.ts";
import type { Account } from "../model/account.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../model/errors.ts";
import type { Cancel, Surroundings } from "../model/surroundings.ts";

export interface SecondLookParts {
  readonly connector: Connector;
  readonly token: string;
  readonly surroundings: Surroundings;
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
  #incompleteLooks = 0;

  constructor(parts: SecondLookParts) {
    this.#parts = parts;
  }

  /** The stream has sent the account; undefined when it was the same as before. */
  heard(account: Account | undefined): void {
    const isStillIncomplete = this.#isIncomplete && (!account || account.oddities.incomplete > 0);
    // A home that talks all the time must not put off the look that it needs.
    if (isStillIncomplete && this.#planned) return;
    if (account) this.#judge(account);
    this.#plan();
  }

  /** There is no stream: the next one opens with a snapshot. */
  rest(): void {
    this.#turn += 1;
    this.#planned?.();
    this.#planned = undefined;
    this.#isIncomplete = false;
    this.#incompleteLooks = 0;
  }

  #judge(account: Account): void {
    this.#isIncomplete = account.oddities.incomplete > 0;
    if (!this.#isIncomplete) this.#incompleteLooks = 0;
  }

  #plan(delayMs = this.#nextMs()): void {
    this.#planned?.();
    this.#turn += 1;
    const turn = this.#turn;
    // Jittered, so that ten thousand quiet accounts are not read in the same second.
    const { after, random } = this.#parts.surroundings;
    this.#planned = after(delayMs * (0.9 + 0.2 * random()), () => {
      this.#planned = undefined;
      this.#look(turn).catch((error) => this.#parts.failed(error));
    });
  }

  #nextMs(): number {
    return this.#isIncomplete ? Math.min(quietMs, settleFromMs * 2 ** this.#incompleteLooks) : quietMs;
  }

  async #look(turn: number): Promise<void> {
    const { seen, signal } = this.#parts;
    const purpose = this.#isIncomplete ? "settles" : "checks";
    const account = await this.#read(turn);
    if (!account) return;
    if (turn !== this.#turn || signal.aborted) return;
    if (this.#isIncomplete) this.#incompleteLooks = Math.min(this.#incompleteLooks + 1, mostDoublings);
    this.#judge(account);
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
