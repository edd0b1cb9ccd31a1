import type { Cancel, Runtime } from "../runtime/runtime.ts";
import { compactThingStep } from "../store/migrations.ts";
import { confirmOlderMs, refuseOlderVersions } from "../store/older-versions.ts";
import type { Store, Transaction } from "../store/seam.ts";

export interface ThingFormParts {
  readonly store: Store<Pick<Transaction, "nodes">>;
  readonly runtime: Runtime;
}

const everyMs = 60_000;

/**
 * In which form this node stores things (home/thing-text.ts). Nodes of older versions read only the named form, so it is
 * used until all of these nodes have left and the store refuses their version. A stored thing takes the compact form
 * with its next change.
 */
export class ThingFormChoice {
  readonly #parts: ThingFormParts;
  #isCompact: boolean;
  #isStopped = false;
  #next: Cancel | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: ThingFormParts) {
    this.#parts = parts;
    // On SQLite the step of the schema has refused older versions.
    this.#isCompact = !parts.store.isShared;
  }

  get form(): "named" | "compact" {
    return this.#isCompact ? "compact" : "named";
  }

  start(): void {
    if (!this.#isCompact) this.#running = this.round();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#next?.();
    await this.#running;
  }

  /** Runs one round, and schedules the next one unless the form is compact. */
  async round(): Promise<void> {
    let waitMs = everyMs;
    try {
      const older = await refuseOlderVersions(this.#parts.store, compactThingStep);
      this.#isCompact = older === "gone";
      if (older === "refused") waitMs = confirmOlderMs;
    } catch (error) {
      this.#parts.runtime.report.warn({ error }, "the form of stored things could not be chosen; trying again");
    }
    if (this.#isCompact || this.#isStopped) return;
    this.#next = this.#parts.runtime.after(waitMs, () => {
      this.#running = this.round();
    });
  }
}
