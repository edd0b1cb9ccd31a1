import type { TriggerId } from "../model/ids.ts";
import { type Evaluation, withinRecord } from "../model/trigger.ts";

/** Alerts whose latest evaluations this node holds: 40 MB when each holds as much as a record may. */
const alertsHeld = 5_000;

/**
 * What alerts saw since their record was last stored. Most events change nothing about an alert, and writing each of
 * them down would cost every commit a write; what is only here goes with the node, and no firing is among it.
 */
export class Records {
  readonly #held = new Map<TriggerId, readonly Evaluation[]>();

  of(id: TriggerId): readonly Evaluation[] {
    return this.#held.get(id) ?? [];
  }

  add(id: TriggerId, seen: readonly Evaluation[]): void {
    const all = withinRecord([...this.of(id), ...seen]);
    this.#held.delete(id);
    this.#held.set(id, all);
    for (const [oldest] of this.#held) {
      if (this.#held.size <= alertsHeld) return;
      this.#held.delete(oldest);
    }
  }
}
