import type { LogEntry, LogPosition } from "../../src/store/tables/log.ts";
import type { Claim, CommittedTransaction, LinkOwner, StoredRow, Write } from "./history.ts";

export type Key = string | number;

/** An entry of the log and its place there. */
export type PlacedEntry = LogEntry & { readonly position: LogPosition };

/** Something that rows can be read from. */
export interface Rows {
  get<Row>(table: string, key: Key): Row | undefined;
  all<Row>(table: string): ReadonlyMap<Key, Row>;
  /** All that was ever appended to the log, in the order in which it became durable. */
  logged(): readonly PlacedEntry[];
}

/** What one transaction sees: all below it, and its own writes. Its log goes into the record as it was appended. */
export class Draft implements Rows {
  readonly changed = new Map<string, Map<Key, object | undefined>>();
  readonly log: PlacedEntry[] = [];
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

  logged(): readonly PlacedEntry[] {
    return this.log.length === 0 ? this.#below.logged() : [...this.#below.logged(), ...this.log];
  }

  set(table: string, key: Key, row: object | undefined): void {
    const own = this.changed.get(table) ?? new Map();
    this.changed.set(table, own);
    own.set(key, row);
  }

  /** Takes over what a savepoint within it changed. */
  absorb(inner: Draft): void {
    for (const [table, rows] of inner.changed) for (const [key, row] of rows) this.set(table, key, row);
    this.log.push(...inner.log);
  }
}

/** What is durable, with its own clock and the record of how it came to be. */
export class Database implements Rows {
  readonly history: CommittedTransaction[] = [];
  #tables = new Map<string, ReadonlyMap<Key, object>>();
  #log: PlacedEntry[] = [];
  /** How much of the log a snapshot shows. */
  #logLength = Number.POSITIVE_INFINITY;
  #lastId = 0;

  get<Row>(table: string, key: Key): Row | undefined {
    return this.#tables.get(table)?.get(key) as Row | undefined;
  }

  all<Row>(table: string): ReadonlyMap<Key, Row> {
    return (this.#tables.get(table) ?? new Map()) as ReadonlyMap<Key, Row>;
  }

  /** As it is now, whatever is committed later. */
  snapshot(): Rows {
    const still = new Database();
    still.#tables = new Map(this.#tables);
    still.#log = this.#log;
    still.#logLength = this.#log.length;
    return still;
  }

  logged(): readonly PlacedEntry[] {
    return this.#log.length > this.#logLength ? this.#log.slice(0, this.#logLength) : this.#log;
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Makes a draft durable, all at once. */
  apply(draft: Draft, by: { readonly node: string; readonly claim: Claim | null; readonly atMs: number }): void {
    const writes: Write[] = [];
    for (const [table, rows] of draft.changed) {
      if (table === "nodes" || table.startsWith("log/") || table === "webhook feed") continue;
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
    this.#log.push(...draft.log);
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

function overlaid<Row>(below: ReadonlyMap<Key, Row>, changed: ReadonlyMap<Key, Row | undefined>): Map<Key, Row> {
  const rows = new Map(below);
  for (const [key, row] of changed) {
    if (row === undefined) rows.delete(key);
    else rows.set(key, row);
  }
  return rows;
}

/** Removes all rows of a table; answers how many there were. */
export function removeAll(rows: Draft, table: string): number {
  const keys = [...rows.all(table).keys()];
  for (const key of keys) rows.set(table, key, undefined);
  return keys.length;
}
