import type { AccessScope } from "../model/access-scope.ts";
import { LimitReached } from "../model/errors.ts";
import { limits } from "../model/limits.ts";

/** Matches with fewer steps take less than a few milliseconds. */
const cheapSteps = 50_000;

/**
 * Runs costly pattern matches that callers ask for one after the other, each in a turn of the event loop of its own: the
 * requests of others are served between them.
 */
export class MatchTurns {
  readonly #turn: () => Promise<void>;
  /** Callers of waiting matches. */
  readonly #waiting: string[] = [];
  #last: Promise<void> = Promise.resolve();

  constructor(turn: () => Promise<void>) {
    this.#turn = turn;
  }

  async run<Result>(accessScope: AccessScope, steps: number, match: () => Result): Promise<Result> {
    if (steps < cheapSteps) return match();
    const caller = callerOf(accessScope);
    if (this.#waiting.filter((other) => other === caller).length >= limits.explanationsWaiting) {
      throw new LimitReached(
        "explanationsWaiting",
        "Too many explanations of yours wait. Try again when they have ended.",
      );
    }
    this.#waiting.push(caller);
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    try {
      await before;
      await this.#turn();
      return match();
    } finally {
      this.#waiting.splice(this.#waiting.indexOf(caller), 1);
      resolve();
    }
  }
}

/** Who asks, as limits count it: a user, or all enterprise clients of a tenant. */
export function callerOf(accessScope: AccessScope): string {
  return accessScope.kind === "user" ? `user ${accessScope.userId}` : `tenant ${accessScope.tenantId}`;
}
