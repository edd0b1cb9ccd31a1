import type { LogEntry } from "../../../src/store/tables/log.ts";
import { comparePositions, type LogPosition, logStart } from "../../../src/store/tables/log-position.ts";
import type { Claim, CommittedTransaction, LinkOwner, StoredRow, Write } from "../checks/history.ts";

export type Key = string | number;

/** An entry of the log with its position. */
export type PositionedEntry = LogEntry & { readonly position: LogPosition };

/** A source of rows. */
export interface Rows {
  get<Row>(table: string, key: Key): Row | undefined;
  all<Row>(table: string): ReadonlyMap<Key, Row>;
  /** All entries ever appended after the position, in the order in which they became durable. */
  loggedAfter(after: LogPosition): readonly PositionedEntry[];
  /** The last position in the log. */
  lastLogged(): LogPosition;
}

/** The view of one transaction: the rows below it, with its own writes on top. Its log goes into the record. */
export class Draft implements Rows {
  readonly changed = new Map<string, Map<Key, object | undefined>>();
  readonly log: PositionedEntry[] = [];
  readonly #below: Rows;

  constructor(below: Rows) {
    this.#below = below;
  }

  get<Row>(table: string, key: Key): Row | undefined {
    const own = this.changed.get(table);
    return own?.has(key) ? (own.get(key) as Row | undefined) : this.#below.get(table, key);
  }

  all<Row>(table: string): ReadonlyMap<Key, Row> {
    const own = this.changed.get(table);
    return own ? overlaid(this.#below.all<Row>(table), own as Map<Key, Row | undefined>) : this.#below.all(table);
  }

  loggedAfter(after: LogPosition): readonly PositionedEntry[] {
    const below = this.#below.loggedAfter(after);
    const own = this.log.filter(({ position }) => comparePositions(position, after) > 0);
    return own.length === 0 ? below : [...below, ...own];
  }

  lastLogged(): LogPosition {
    return latest(this.#below.lastLogged(), this.log);
  }

  set(table: string, key: Key, row: object | undefined): void {
    const own = this.changed.get(table) ?? new Map();
    this.changed.set(table, own);
    own.set(key, row);
  }

  /** Merges the changes of an inner savepoint. */
  absorb(inner: Draft): void {
    for (const [table, rows] of inner.changed) for (const [key, row] of rows) this.set(table, key, row);
    this.log.push(...inner.log);
  }
}

/** The durable rows, with the database's clock and the record of all commits. */
export class Database implements Rows {
  readonly history: CommittedTransaction[] = [];
  #tables = new Map<string, ReadonlyMap<Key, object>>();
  #isShared = false;
  #log: PositionedEntry[] = [];
  /** The last position among the first n entries, for fast look-ups; it only rises. */
  #lastOf: LogPosition[] = [];
  /** The number of log entries that a snapshot shows. */
  #logLength = Number.POSITIVE_INFINITY;
  #lastId = 0;

  get<Row>(table: string, key: Key): Row | undefined {
    return this.#tables.get(table)?.get(key) as Row | undefined;
  }

  all<Row>(table: string): ReadonlyMap<Key, Row> {
    return (this.#tables.get(table) ?? new Map()) as ReadonlyMap<Key, Row>;
  }

  /** An immutable view of the current state. */
  snapshot(): Rows {
    const still = new Database();
    this.#isShared = true;
    still.#tables = this.#tables;
    still.#log = this.#log;
    still.#lastOf = this.#lastOf;
    still.#logLength = this.#log.length;
    return still;
  }

  loggedAfter(after: LogPosition): readonly PositionedEntry[] {
    const length = Math.min(this.#log.length, this.#logLength);
    let [from, to] = [0, length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (comparePositions(this.#lastOf[middle]!, after) > 0) to = middle;
      else from = middle + 1;
    }
    return this.#log.slice(from, length).filter(({ position }) => comparePositions(position, after) > 0);
  }

  lastLogged(): LogPosition {
    return this.#lastOf[Math.min(this.#log.length, this.#logLength) - 1] ?? logStart;
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Commits a draft atomically. */
  apply(draft: Draft, by: { readonly node: string; readonly claim: Claim | null; readonly atMs: number }): void {
    const writes: Write[] = [];
    for (const [table, rows] of draft.changed) {
      if (
        table === "nodes" ||
        table.startsWith("log/") ||
        table === "webhook feed" ||
        table === "assistant feed" ||
        table === "feedLeases"
      )
        continue;
      for (const [key, row] of rows) {
        writes.push({
          table,
          key,
          before: this.get<StoredRow>(table, key) ?? null,
          after: (row as StoredRow) ?? null,
        });
      }
    }
    if (writes.length > 0 || draft.log.length > 0) {
      const links = this.#ownersOfTouched(draft);
      this.history.push({ seq: this.history.length, ...by, links, writes, log: draft.log });
    }
    for (const entry of draft.log) {
      this.#lastOf.push(latest(this.lastLogged(), [entry]));
      this.#log.push(entry);
    }
    if (this.#isShared) this.#tables = new Map(this.#tables);
    this.#isShared = false;
    for (const [table, rows] of draft.changed) {
      this.#tables.set(table, overlaid(this.all<object>(table), rows));
    }
  }

  #ownersOfTouched(draft: Draft): LinkOwner[] {
    const ids = new Set(draft.log.map(({ deviceId }) => deviceId as number | null));
    for (const table of draft.changed.keys()) {
      if (table.startsWith("attributes/")) ids.add(Number(table.slice("attributes/".length)));
    }
    return [...ids].flatMap((id) => {
      const link = id === null ? undefined : this.get<{ owner: string | null; epoch: number }>("links", id);
      return link ? [{ deviceId: id as number, owner: link.owner, epoch: link.epoch }] : [];
    });
  }
}

function latest(position: LogPosition, entries: readonly PositionedEntry[]): LogPosition {
  let last = position;
  for (const { position } of entries) if (comparePositions(position, last) > 0) last = position;
  return last;
}

function overlaid<Row>(below: ReadonlyMap<Key, Row>, changed: ReadonlyMap<Key, Row | undefined>): Map<Key, Row> {
  const rows = new Map(below);
  for (const [key, row] of changed) {
    if (row === undefined) rows.delete(key);
    else rows.set(key, row);
  }
  return rows;
}

/** Removes all rows of a table and returns their number. */
export function removeAll(rows: Draft, table: string): number {
  const keys = [...rows.all(table).keys()];
  for (const key of keys) rows.set(table, key, undefined);
  return keys.length;
}
