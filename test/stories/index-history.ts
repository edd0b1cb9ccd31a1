import assert from "node:assert/strict";
import type { LogEntry } from "../../src/store/tables/log.ts";
import { publishedAttributes } from "../samples/published-attributes.ts";

/** A range of indexes: the structures, or one kind of devices in one structure. */
interface Range {
  readonly size: number;
  readonly slots: Map<number, { id: string; absentSince: number | null }>;
}

const names = publishedAttributes().map(({ name }) => name);

/**
 * Replays the assignment of indexes from the log and asserts the rules of docs/interface.md at every commit: an id keeps
 * its index while it is present and gets it back on return; a new id gets a never used index while there is one; only
 * then the longest absent id loses its index. Returns how many indexes were assigned and how many were taken away.
 */
export function assertIndexHistory(log: readonly LogEntry[]): {
  readonly assigned: number;
  readonly takenAway: number;
} {
  const ranges = new Map<string, Range>();
  const counts = { assigned: 0, takenAway: 0 };
  log
    .filter(({ kind }) => kind === "attribute")
    .forEach((entry, step) => {
      const changes = occupants(entry).sort((a, b) => Number(a.id !== null) - Number(b.id !== null));
      // When a structure loses its index, all its devices lose theirs.
      for (const { range, index, id } of changes) {
        const before = ranges.get(range)?.slots.get(index)?.id;
        if (range !== "structures" || id === null || before === undefined || before === id) continue;
        for (const name of [...ranges.keys()]) if (name.startsWith(`${index}/`)) ranges.delete(name);
      }
      for (const change of changes) apply(change, step, ranges, counts);
    });
  return counts;
}

interface Change {
  readonly range: string;
  readonly size: number;
  readonly index: number;
  readonly id: string | null;
}

function occupants(entry: LogEntry): Change[] {
  const { changes } = JSON.parse(entry.body) as { changes: [number, string | null][] };
  return changes.flatMap(([number, id]) => {
    const structure = /^d\.structures\[(\d)\]\.a\.structure_id$/.exec(names[number]!);
    if (structure) return [{ range: "structures", size: 2, index: Number(structure[1]), id }];
    const device = /^d\.structures\[(\d)\]\.d\.(\w+)\[(\d+)\]\.device_id$/.exec(names[number]!);
    if (!device) return [];
    const [, x, kind, y] = device;
    return [{ range: `${x}/${kind}`, size: kind === "thermostats" ? 20 : 18, index: Number(y), id }];
  });
}

function apply(
  { range: name, size, index, id }: Change,
  step: number,
  ranges: Map<string, Range>,
  counts: Counts,
): void {
  const range = ranges.get(name) ?? { size, slots: new Map() };
  ranges.set(name, range);
  const slot = range.slots.get(index);
  if (id === null) {
    if (slot) slot.absentSince = step;
    return;
  }
  const known = [...range.slots].find(([, other]) => other.id === id);
  if (known) {
    assert.equal(known[0], index, `${id} has index ${known[0]} of ${name} and got ${index}`);
    known[1].absentSince = null;
    return;
  }
  counts.assigned += 1;
  if (slot) {
    counts.takenAway += 1;
    assert.equal(range.slots.size, range.size, `${name}[${index}] was taken away while others were never used`);
    // An id that is replaced in a commit became absent with that commit.
    const absentSince = slot.absentSince ?? step;
    for (const [i, other] of range.slots) {
      if (i === index || other.absentSince === null) continue;
      assert.ok(other.absentSince >= absentSince, `${other.id} of ${name} has been absent for longer than ${slot.id}`);
    }
  }
  range.slots.set(index, { id, absentSince: null });
}

type Counts = { assigned: number; takenAway: number };
