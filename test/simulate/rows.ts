import type { LogEntry } from "../../src/store/tables/log.ts";
import type { Claim, CommittedTransaction, LinkOwner, StoredRow, Write } from "./history.ts";

export type Key = string | number;

/** Something that rows can be read from. */
export interface Rows {
  get<Row>(table: string, key: Key): Row | undefined;
  all<Row>(table: string): ReadonlyMap<Key, Row>;
}

/** What one transaction sees: all below it, and its own writes. Its log goes into the record as it was appended. */
export class Draft implements Rows {
  readonly changed = new Map<string, Map<Key, object | undefined>>();
  readonly log: LogEntry[] = [];
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

  set(table: string, key: Key, row: object | undefined): void {
    const own = this.changed.get(table) ?? new Map();
    this.changed.set(table, own);
    own.set(key, row);
  }

  /** Takes over what a savepoint within it changed. */
  absorb(inner: Draft): void {
    for (const [table, rows] of inner.changed) for (const [key, row] of rows) this.set(table, key, row);
  }
}

/** What is durable, with its own clock and the record of how it came to be. */
export class Database implements Rows {
  readonly history: CommittedTransaction[] = [];
  #tables = new Map<string, ReadonlyMap<Key, object>>();
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
    return still;
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Makes a draft durable, all at once. */
  apply(draft: Draft, by: { readonly node: string; readonly claim: Claim | null; readonly atMs: number }): void {
    const writes: Write[] = [];
    for (const [table, rows] of draft.changed) {
      if (table === "nodes" || table.startsWith("log/")) continue;
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
