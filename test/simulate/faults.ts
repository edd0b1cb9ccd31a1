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
  "access token ended early",
  "renewal down",
  "renewal slow",
  "renewal answer lost",
  "renewal answered garbage",
  "renewal refused",
  "snapshot incomplete",
  "snapshot repeated",
  "account over the limit",
  "reader dropped",
  "receiver refuses",
  "receiver silent",
  "receiver accepts without answer",
  "receiver slow",
  "google down",
  "google answer lost",
  "feed message lost",
  "feed message duplicated",
  "feed message delayed",
  "feed token refused",
  "puller killed before acknowledging",
  "google consent withdrawn",
  "instance restarted",
  "instance unreachable",
  "instance floods",
  "instance connection dropped",
  "instance connection silent",
  "instance answer lost",
  "instance consent withdrawn",
  "maker down",
  "maker slow",
  "maker loses its answer",
  "maker refuses the token",
  "maker forbids",
  "maker finds nothing",
  "maker throttles",
  "maker fails",
] as const;

export type FaultKind = (typeof faultKinds)[number];

/** What a hostile instance does. */
export const hostileKinds = [
  "hostile instance floods levels",
  "hostile instance floods changes",
  "hostile instance sends strangers",
  "hostile instance sends heavy states",
  "hostile instance grows",
  "hostile instance shrinks",
  "hostile instance contradicts itself",
  "hostile instance sends nonsense",
  "hostile instance withholds answers",
  "hostile instance repeats answers",
  "hostile instance refuses calls",
  "hostile instance drops connections",
  "hostile instance ends consent",
  "hostile instance starts for ever",
] as const;

export type HostileKind = (typeof hostileKinds)[number];

/** Reactions of the core, and calls to it. A run in which none of them happens proves little. */
export const eventKinds = [
  ...hostileKinds,
  "hostile instance held back",
  "hostile home at the limit of its states",
  "hostile home at the limit of its CPU time",
  "hostile home commanded",
  "commits shared a transaction",
  "commit left its group",
  "outcome of a group unknown",
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
  "credential renewed",
  "renewal refused for good",
  "node killed in a renewal",
  "link lost in a renewal",
  "reader resumed elsewhere",
  "reader got a resync",
  "alert fired",
  "alert on a thing fired",
  "alert on a gone thing fired",
  "chain of alerts stopped",
  "alert disabled by itself",
  "alert deleted by itself",
  "google token renewed",
  "instance token renewed",
  "instance refused a token",
  "feed message redelivered",
  "lists over budget",
  "map set",
  "map changed",
  "map removed",
  "own command done",
  "own command oneByOne",
  "own command refused",
  "own command late",
  "own command ignored",
  "own command confirmed",
  "own command contradicted",
  "own command expired",
  "own thing silent",
  "own thing commanded by an alert",
  "foreign thing refused",
  "assistant told",
  "assistant told of a stale link",
  "assistant told of a gone thing",
  "assistant token renewed",
  "assistant access withdrawn",
  "assistant link ended at the maker",
] as const;

export type EventKind = (typeof eventKinds)[number];

/** The faults of a run and their frequency. Each seed has its own mix: some faults often, some never. */
export class Faults {
  readonly counts = new Map<FaultKind | EventKind, number>();
  /** From then on no fault happens, and everything must converge. */
  areOver = false;
  readonly #dice: Dice;
  readonly #strength = new Map<FaultKind, number>();

  constructor(dice: Dice) {
    this.#dice = dice;
    for (const kind of faultKinds) this.#strength.set(kind, dice.pick([0, 0.5, 1, 1, 2, 4]));
  }

  /** Whether the fault happens now. */
  strikes(kind: FaultKind, probability: number): boolean {
    if (this.areOver || !this.#dice.chance(probability * this.#strength.get(kind)!)) return false;
    this.count(kind);
    return true;
  }

  count(kind: FaultKind | EventKind): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  /** The weight of the fault in this seed; 1 is normal. */
  strength(kind: FaultKind): number {
    return this.#strength.get(kind)!;
  }
}
