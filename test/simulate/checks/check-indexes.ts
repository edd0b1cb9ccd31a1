import { parseStoredMap, type StoredMap, type StoredSlot } from "./expected-device.ts";
import type { CommittedTransaction } from "./history.ts";
import { demand } from "./violation.ts";

const limits = { structures: 2, thermostats: 20, alarms: 18 };

/** Indexes are stable: compares each stored index map with the previous one (decisions 5, Index; G9). */
export function checkIndexes(history: readonly CommittedTransaction[]): void {
  const links = new Map<number, { map: StoredMap; readonly absences: Absences }>();
  for (const { seq, writes } of history) {
    for (const { table, key, after } of writes) {
      if (table !== "links" || !after) continue;
      const map = parseStoredMap(after.indexMap as string);
      const known = links.get(key as number);
      const link = known ?? { map: { step: 0, structures: [] }, absences: new Absences() };
      if (!known) links.set(key as number, link);
      if (known && JSON.stringify(known.map) === JSON.stringify(map)) continue;
      checkStep(`transaction ${seq}, link ${key}`, seq, link.map, map, link.absences);
      link.map = map;
    }
  }
}

function checkStep(where: string, seq: number, before: StoredMap, after: StoredMap, absences: Absences): void {
  checkRange(`${where}, structures`, "X", seq, before.structures, after.structures, limits.structures, absences);
  after.structures.forEach((structure, index) => {
    if (!structure) return;
    const old = before.structures[index];
    if (old && old.id !== structure.id) absences.forgetAll(`X${index}`);
    const inherited = old?.id === structure.id ? old : undefined;
    for (const range of ["thermostats", "alarms"] as const) {
      const name = `X${index} ${range}`;
      const slots = inherited?.[range] ?? [];
      checkRange(`${where}, ${name}`, name, seq, slots, structure[range], limits[range], absences);
    }
  });
}

function checkRange(
  where: string,
  range: string,
  seq: number,
  before: readonly (StoredSlot | null)[],
  after: readonly (StoredSlot | null)[],
  limit: number,
  absences: Absences,
): void {
  const holders = after.flatMap((slot) => (slot ? [slot.id] : []));
  demand(new Set(holders).size === holders.length, () => `${where}: an id has two indexes`);
  demand(after.length <= limit, () => `${where}: ${after.length} indexes of ${limit}`);
  demand(!after.includes(null), () => `${where}: an index was passed over while another was given`);
  demand(after.length >= before.length, () => `${where}: an index that was given is gone`);
  for (const slot of before) if (slot?.isPresent) absences.end(range, slot.id);
  for (const slot of before) {
    const now = after.find((other) => other?.id === slot?.id);
    if (slot && !now?.isPresent) absences.begin(range, slot.id, seq);
  }
  before.forEach((slot, index) => {
    const taker = after[index]!;
    if (!slot || taker.id === slot.id) return;
    const what = `${where}, index ${index + 1} passes from ${slot.id} to ${taker.id}`;
    demand(!holders.includes(slot.id), () => `${what}, and ${slot.id} gets another`);
    demand(after.length === limit, () => `${what} though only ${after.length} of ${limit} are taken`);
    demand(taker.isPresent, () => `${what}, which isn't there`);
    for (const ghost of after) {
      if (!ghost || ghost.isPresent) continue;
      demand(
        absences.began(range, slot.id) <= absences.began(range, ghost.id),
        () => `${what} though ${ghost.id} is absent longer`,
      );
    }
    absences.end(range, slot.id);
  });
  for (const slot of after) if (slot?.isPresent) absences.end(range, slot.id);
}

/** Since which transaction each id of each range has been absent. */
class Absences {
  readonly #since = new Map<string, number>();

  begin(range: string, id: string, seq: number): void {
    const key = `${range}/${id}`;
    if (!this.#since.has(key)) this.#since.set(key, seq);
  }

  end(range: string, id: string): void {
    this.#since.delete(`${range}/${id}`);
  }

  began(range: string, id: string): number {
    return this.#since.get(`${range}/${id}`) ?? Number.POSITIVE_INFINITY;
  }

  forgetAll(range: string): void {
    for (const key of this.#since.keys()) if (key.startsWith(`${range} `)) this.#since.delete(key);
  }
}
