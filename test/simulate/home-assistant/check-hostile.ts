import type { CommittedTransaction, StoredRow } from "../checks/history.ts";
import { demand } from "../checks/violation.ts";
import { rowFields } from "../store/stored-state.ts";

/** A time in which a hostile home changed levels alone. */
export interface LevelFlood {
  readonly userId: number;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface HostileRecord {
  /** The users of hostile instances. */
  readonly users: readonly number[];
  readonly floods: readonly LevelFlood[];
  /** Guarantees of the event loop that were broken, and errors of nodes that only a defect explains. */
  readonly broken: readonly string[];
}

/** docs/limits.md: things of a link, and gone ones that are kept. */
const [mostThings, mostGone] = [500, 500];
/** Commits of levels alone: 10 a second and 20 at once; and some for lists that were still on their way. */
const [levelsPerSecond, levelsAtOnce, tolerated] = [10, 20, 15];
/** What came before the flood is stored by then. */
const storedWithinMs = 2_000;

/** What is kept of a hostile home stays within its bounds, whatever it sends, and it does not harm the node. */
export function checkHostile({ users, floods, broken }: HostileRecord, history: readonly CommittedTransaction[]): void {
  const [first] = broken;
  demand(first === undefined, () => String(first));
  const homes = new Map<string, { readonly present: Set<unknown>; readonly gone: Set<unknown> }>();
  const commits = new Map<number, number[]>();
  for (const { seq, atMs, writes } of history) {
    const changed = new Set<string>();
    let userId: number | undefined;
    for (const { table, key, after } of writes) {
      const owner = users.find((user) => String(key).startsWith(`t_${user}_`));
      if (!table.startsWith("things/") || owner === undefined) continue;
      userId = owner;
      changed.add(table);
      const home = homes.get(table) ?? { present: new Set(), gone: new Set() };
      homes.set(table, home);
      home.present.delete(key);
      home.gone.delete(key);
      if (after) (after.goneMs === null ? home.present : home.gone).add(key);
      if (after) demandSaneValues(seq, key, after);
    }
    if (userId !== undefined) {
      const times = commits.get(userId) ?? [];
      commits.set(userId, times);
      times.push(atMs);
    }
    for (const table of changed) {
      const { present, gone } = homes.get(table)!;
      demand(present.size <= mostThings, () => `transaction ${seq}: ${present.size} things are stored in ${table}`);
      demand(gone.size <= mostGone, () => `transaction ${seq}: ${gone.size} gone things are kept in ${table}`);
    }
  }
  for (const { userId, fromMs, toMs } of floods) {
    const beginMs = fromMs + storedWithinMs;
    const count = (commits.get(userId) ?? []).filter((atMs) => atMs >= beginMs && atMs <= toMs).length;
    const most = levelsAtOnce + (levelsPerSecond * (toMs - beginMs)) / 1_000 + tolerated;
    demand(count <= most, () => `${count} commits of levels alone of user ${userId} from ${beginMs} to ${toMs} ms`);
  }
}

/** No value is outside its range, whatever the instance says. */
function demandSaneValues(seq: number, key: unknown, after: StoredRow): void {
  for (const [field, timed] of rowFields(String(after.state))) {
    const [value] = timed as readonly unknown[];
    if (typeof value !== "number") continue;
    const isSane = field.endsWith(".percent") ? value >= 0 && value <= 100 : Number.isFinite(value);
    demand(isSane, () => `transaction ${seq}: ${field} of thing ${key} is ${value}`);
  }
}
