import type { TriggerId } from "../model/ids.ts";
import { type Evaluation, newestInRecord } from "../model/trigger.ts";

/** Number of alerts in memory: 40 MB if each holds a record of maximal size. */
const maximalAlerts = 5_000;

/**
 * Evaluations since the alert's record was last stored. Most events change nothing about an alert, and storing each of
 * them would add a write to every commit. These evaluations are lost when the node ends; firings are always stored.
 */
export class Records {
  readonly #evaluations = new Map<TriggerId, readonly Evaluation[]>();

  of(id: TriggerId): readonly Evaluation[] {
    return this.#evaluations.get(id) ?? [];
  }

  add(id: TriggerId, seen: readonly Evaluation[]): void {
    const all = newestInRecord([...this.of(id), ...seen]);
    this.#evaluations.delete(id);
    this.#evaluations.set(id, all);
    for (const [oldest] of this.#evaluations) {
      if (this.#evaluations.size <= maximalAlerts) return;
      this.#evaluations.delete(oldest);
    }
  }
}
