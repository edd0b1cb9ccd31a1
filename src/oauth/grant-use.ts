import { BackgroundTask } from "../runtime/background-task.ts";
import { type Cancel, outsideRequests, type Runtime } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { GrantRow } from "../store/tables/grants.ts";

/** A use is stored at most once in this time for each grant. */
export const useStoredEveryMs = 3_600_000;

const writeAfterMs = 1_000;
const grantsAtOnce = 50;
/** Beyond it, uses are not noted. They are noted an hour later. */
const mostWaiting = 10_000;

/** Stores when grants are used, for the account page. It works in the background: no call waits for it. */
export class GrantUse {
  readonly #store: Store<Pick<Transaction, "grants" | "clock">>;
  readonly #runtime: Runtime;
  readonly #task: BackgroundTask;
  readonly #waiting = new Map<string, GrantRow>();
  #next: Cancel | undefined;
  #isStopped = false;

  constructor(store: Store<Pick<Transaction, "grants" | "clock">>, runtime: Runtime) {
    this.#store = store;
    this.#runtime = runtime;
    this.#task = new BackgroundTask("grant_use", "when apps last used their access could not be stored", runtime);
  }

  note(grant: GrantRow): void {
    if (this.#isStopped || this.#waiting.size >= mostWaiting) return;
    this.#waiting.set(grant.id, grant);
    this.#next ??= this.#runtime.after(writeAfterMs, () => void outsideRequests(this.#runtime, () => this.#write()));
  }

  /** Uses that are not stored yet are forgotten. */
  stop(): void {
    this.#isStopped = true;
    this.#next?.();
    this.#waiting.clear();
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.size > 0) {
        // All transactions lock grants in the order of their ids, so that two nodes can't wait for each other.
        const some = [...this.#waiting.values()].slice(0, grantsAtOnce).sort((a, b) => (a.id < b.id ? -1 : 1));
        for (const { id } of some) this.#waiting.delete(id);
        await this.#store.transaction(
          async (tx) => {
            const nowMs = await tx.clock.nowMs();
            for (const grant of some) await tx.grants.used(grant, nowMs, nowMs - useStoredEveryMs);
          },
          { background: true },
        );
      }
      this.#task.succeeded();
    } catch (error) {
      this.#task.failed(error);
    }
    this.#next = undefined;
    // Noted while the last transaction failed.
    if (this.#waiting.size > 0 && !this.#isStopped) {
      this.#next = this.#runtime.after(writeAfterMs, () => void this.#write());
    }
  }
}
