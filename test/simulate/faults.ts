import type { Dice } from "./dice.ts";

export const faultKinds = [
  "node killed",
  "node frozen",
  "node cut off",
  "node drained",
  "node clock jumped",
  "store clock jumped",
  "store down",
  "store crashed",
  "store slow",
  "place lost",
  "hint lost",
  "statement lost",
  "commit refused",
  "commit ambiguous",
  "commit late",
  "group failed",
  "crash at commit",
  "stream dropped",
  "stream refused",
  "stream unreachable",
  "stream malformed",
  "stream silent",
  "changes withheld",
  "read failed",
  "revocation failed",
  "token revoked",
  "snapshot incomplete",
  "snapshot repeated",
  "account over the limit",
  "reader dropped",
  "receiver refuses",
  "receiver silent",
  "receiver takes and is silent",
  "receiver slow",
] as const;

export type FaultKind = (typeof faultKinds)[number];

/** What the core did about it, or was asked to do: a run in which none of it happens proves little about it. */
export const eventKinds = [
  "second look",
  "second look overtaken",
  "drift",
  "unlinked",
  "unlinking in doubt",
  "linked again",
  "new token came too late",
  "fan command accepted",
  "fan command rejected",
  "fan command unanswered",
  "fan command unauthorized",
  "reader resumed elsewhere",
  "reader told to resync",
  "alert fired",
  "chain of alerts stopped",
  "alert disabled by itself",
  "alert deleted by itself",
] as const;

export type EventKind = (typeof eventKinds)[number];

/** What goes wrong in a run, and how often. Each seed has its own weather: some faults often, some never. */
export class Faults {
  readonly counts = new Map<FaultKind | EventKind, number>();
  /** Once they are over, nothing goes wrong any more: then all must converge. */
  areOver = false;
  readonly #dice: Dice;
  readonly #strength = new Map<FaultKind, number>();

  constructor(dice: Dice) {
    this.#dice = dice;
    for (const kind of faultKinds) this.#strength.set(kind, dice.pick([0, 0.5, 1, 1, 2, 4]));
  }

  /** Whether that fault happens here and now. */
  strikes(kind: FaultKind, probability: number): boolean {
    if (this.areOver || !this.#dice.chance(probability * this.#strength.get(kind)!)) return false;
    this.count(kind);
    return true;
  }

  count(kind: FaultKind | EventKind): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  /** How much this seed likes that fault, 1 being the ordinary. */
  strength(kind: FaultKind): number {
    return this.#strength.get(kind)!;
  }
}
