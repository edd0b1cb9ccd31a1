import { type LimitName, limits } from "../../model/limits.ts";

/** Bounds the users whose assistants this node reports to at once. Emergencies may use a reserve on top. */
export class ReportSlots {
  #total = 0;
  readonly #byOutlet = new Map<string, number>();

  /** The limit that makes this report wait; undefined when there is a free slot. */
  limitFor(outletId: string, isUrgent: boolean): LimitName | undefined {
    const reserve = isUrgent ? limits.assistantSendsUrgent : 0;
    if ((this.#byOutlet.get(outletId) ?? 0) >= limits.assistantSendsPerOutlet + reserve)
      return "assistantSendsPerOutlet";
    return this.#total >= limits.assistantSends + reserve ? "assistantSends" : undefined;
  }

  /** Outlets that have no free slot but the reserve of emergencies, and those that have none at all. */
  taken(): { readonly busy: readonly string[]; readonly full: readonly string[] } {
    const having = (slots: number) => [...this.#byOutlet].filter(([, taken]) => taken >= slots).map(([id]) => id);
    const { assistantSendsPerOutlet: slots, assistantSendsUrgent: reserve } = limits;
    return { busy: having(slots), full: having(slots + reserve) };
  }

  take(outletId: string): void {
    this.#total += 1;
    this.#byOutlet.set(outletId, (this.#byOutlet.get(outletId) ?? 0) + 1);
  }

  release(outletId: string): void {
    this.#total -= 1;
    const left = (this.#byOutlet.get(outletId) ?? 1) - 1;
    if (left > 0) this.#byOutlet.set(outletId, left);
    else this.#byOutlet.delete(outletId);
  }
}
