import { type LimitName, limits } from "../../model/limits.ts";

/**
 * The share of the emergency reserve that one outlet may take: a third, so that two outlets whose gateways do not answer
 * leave a third to the others.
 */
const urgentPerOutlet = Math.floor(limits.assistantSendsUrgent / 3);

/** Bounds the users whose assistants this node reports to at once. Emergencies may use a reserve on top. */
export class ReportSlots {
  #total = 0;
  readonly #byOutlet = new Map<string, number>();

  /** The limit that makes this report wait; undefined when there is a free slot. */
  limitFor(outletId: string, isUrgent: boolean): LimitName | undefined {
    const [outletReserve, totalReserve] = isUrgent ? [urgentPerOutlet, limits.assistantSendsUrgent] : [0, 0];
    if ((this.#byOutlet.get(outletId) ?? 0) >= limits.assistantSendsPerOutlet + outletReserve)
      return "assistantSendsPerOutlet";
    return this.#total >= limits.assistantSends + totalReserve ? "assistantSends" : undefined;
  }

  /** `busy`: outlets whose ordinary slots are all taken. `full`: those whose emergency reserve is taken too. */
  taken(): { readonly busy: readonly string[]; readonly full: readonly string[] } {
    const having = (slots: number) => [...this.#byOutlet].filter(([, taken]) => taken >= slots).map(([id]) => id);
    const slots = limits.assistantSendsPerOutlet;
    return { busy: having(slots), full: having(slots + urgentPerOutlet) };
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
