import { StoreUnavailable } from "../model/errors.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import { type Operator, type OperatorAccess, reachedTenants } from "./operator.ts";
import { accessOf } from "./operator-access.ts";
import { isOver } from "./sessions.ts";
import type { OperatorTables } from "./tables.ts";

/** Streams of an operator must end within a second after the session. */
const checkEveryMs = 500;

interface Watched {
  readonly operator: Operator;
  readonly ended: () => void;
}

/**
 * Tells when the session or token of an operator has ended, the operator is suspended, or reaches other tenants than
 * before. It reads the store twice a second while something is watched: another node may have ended it.
 */
export class SessionWatch {
  readonly #store: Store<OperatorTables>;
  readonly #runtime: Pick<Runtime, "after" | "report">;
  readonly #watched = new Set<Watched>();
  #next: Cancel | undefined;
  #isChecking = false;

  constructor(store: Store<OperatorTables>, runtime: Pick<Runtime, "after" | "report">) {
    this.#store = store;
    this.#runtime = runtime;
  }

  /** Calls `ended` at most once; the returned function ends the watch. */
  watch(operator: Operator, ended: () => void): () => void {
    const watched = { operator, ended };
    this.#watched.add(watched);
    this.#schedule();
    return () => {
      this.#watched.delete(watched);
      if (this.#watched.size === 0) this.stop();
    };
  }

  stop(): void {
    this.#next?.();
    this.#next = undefined;
  }

  /** A check that runs schedules the next one itself: there is never more than one timer. */
  #schedule(): void {
    if (!this.#isChecking) this.#next ??= this.#runtime.after(checkEveryMs, () => void this.#check());
  }

  async #check(): Promise<void> {
    this.#next = undefined;
    this.#isChecking = true;
    try {
      const byCredential = Map.groupBy(this.#watched, ({ operator }) => operator.by.id);
      for (const [, [first, ...others]] of byCredential) {
        if (await this.#isAsBefore(first!.operator)) continue;
        for (const one of [first!, ...others]) {
          this.#watched.delete(one);
          one.ended();
        }
      }
    } catch (error) {
      // While the store does not answer, the stream has no heartbeat, which its reader notices.
      if (!(error instanceof StoreUnavailable)) {
        this.#runtime.report.warn({ error }, "the sessions of operators with an open stream could not be checked");
      }
    }
    this.#isChecking = false;
    if (this.#watched.size > 0) this.#schedule();
  }

  #isAsBefore(before: Operator): Promise<boolean> {
    return this.#store.read(async (tx) => {
      const operator = await tx.operators.byId(before.operatorId);
      if (!operator || operator.isSuspended) return false;
      const tenants = (one: OperatorAccess) => JSON.stringify(reachedTenants(one) ?? null);
      if (tenants(accessOf(operator)) !== tenants(before)) return false;
      const nowMs = await tx.clock.nowMs();
      if (before.by.kind === "token") {
        const token = await tx.operatorTokens.byId(before.by.id);
        return token !== undefined && nowMs < token.expiresMs;
      }
      const session = await tx.operatorSessions.byId(before.by.id);
      return session !== undefined && !isOver(session, nowMs);
    });
  }
}
