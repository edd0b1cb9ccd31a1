import type { Connector } from "../ecosystem/connector.ts";
import type { Account } from "../model/account.ts";
import { EcosystemRefused } from "../model/errors.ts";
import type { Cancel, Surroundings } from "../model/surroundings.ts";

export interface SecondLookParts {
  readonly connector: Connector;
  readonly token: string;
  readonly surroundings: Surroundings;
  /** What was read, and what it was read for: `settles` an incomplete snapshot, or `checks` a quiet stream. */
  readonly seen: (account: Account, purpose: "settles" | "checks") => void;
  /** The ecosystem no longer takes the token. */
  readonly refused: () => void;
  readonly signal: AbortSignal;
}

const quietMs = 10 * 60_000;
const settleFromMs = 2_000;
const unreachableMs = 60_000;

/**
 * A stream can stay alive with keep-alives while changes no longer come, and a snapshot can leave something open. Either
 * is settled by reading the account once: ten minutes after the last snapshot, or soon after an incomplete one (and ever
 * later while it stays so). What the stream sends meanwhile is newer and goes before.
 */
export class SecondLook {
  readonly #parts: SecondLookParts;
  #cancel: Cancel | undefined;
  #turn = 0;
  #incompleteInARow = 0;

  constructor(parts: SecondLookParts) {
    this.#parts = parts;
  }

  /** The stream has sent the account; undefined when it was the same as before. */
  heard(account: Account | undefined): void {
    if (account) this.#count(account);
    this.#plan();
  }

  /** There is no stream: the next one opens with a snapshot. */
  rest(): void {
    this.#turn += 1;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#incompleteInARow = 0;
  }

  #count(account: Account): void {
    this.#incompleteInARow = account.oddities.incomplete > 0 ? this.#incompleteInARow + 1 : 0;
  }

  #plan(delayMs = this.#nextMs()): void {
    this.#cancel?.();
    this.#turn += 1;
    const turn = this.#turn;
    // Jittered, so that ten thousand quiet accounts are not read in the same second.
    const { after, random } = this.#parts.surroundings;
    this.#cancel = after(delayMs * (0.9 + 0.2 * random()), () => void this.#look(turn));
  }

  #nextMs(): number {
    if (this.#incompleteInARow === 0) return quietMs;
    return Math.min(quietMs, settleFromMs * 2 ** Math.min(this.#incompleteInARow - 1, 10));
  }

  async #look(turn: number): Promise<void> {
    const { connector, token, seen, refused, signal } = this.#parts;
    const purpose = this.#incompleteInARow > 0 ? "settles" : "checks";
    try {
      const account = await connector.read(token, signal);
      if (turn !== this.#turn || signal.aborted) return;
      this.#count(account);
      this.#plan();
      seen(account, purpose);
    } catch (error) {
      if (turn !== this.#turn || signal.aborted) return;
      if (error instanceof EcosystemRefused) refused();
      else this.#plan(unreachableMs);
    }
  }
}
