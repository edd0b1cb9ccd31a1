import type { UserId } from "../../model/ids.ts";
import type { Sql } from "../sql.ts";
import type { AssistantGrantKey } from "./assistant-grants.ts";
import type { LogPosition } from "./log-position.ts";

/** An alarm that has risen and that the assistant was not told about yet. */
export interface AlarmRise {
  readonly trait: "smoke" | "carbonMonoxide";
  readonly state: "warning" | "alarm" | "unknown";
  readonly timeMs: number;
}

/** What an assistant has to be told about one thing, or about all things of a user. */
export interface AssistantMark extends AssistantGrantKey {
  /** Empty: all things of the user. */
  readonly thingId: string;
  /** Counts the changes of this mark: a mark that has changed since it was read stays. */
  readonly version: number;
  /** When the first unreported change happened. */
  readonly sinceMs: number;
  /** The state is to be reported from then on; null when it need not be. */
  readonly stateMs: number | null;
  /** That the thing was added, changed or removed is to be told from then on; null when there is nothing to tell. */
  readonly syncMs: number | null;
  readonly isUrgent: boolean;
  readonly rises: readonly AlarmRise[];
}

/** What a message has told of a thing. */
export interface ToldOfMark {
  readonly state: boolean;
  readonly sync: boolean;
  /** The rises that were told before the state; all of the mark's when the state was told. */
  readonly rises?: readonly AlarmRise[];
}

/** A change to be told. Undefined times leave those of an existing mark as they are. */
export interface NewMark extends AssistantGrantKey {
  readonly thingId: string;
  /** When it happened; now when left out. */
  readonly sinceMs?: number | undefined;
  readonly stateMs?: number | undefined;
  readonly syncMs?: number | undefined;
  /** The thing is there again: it is not told as removed. */
  readonly isBack?: boolean;
  /** The thing is gone: what else was to be told of its description is void. */
  readonly isGone?: boolean;
  readonly isUrgent?: boolean;
  readonly rises?: readonly AlarmRise[];
}

/** The position in the log up to which entries have become marks. */
export interface AssistantFeed extends LogPosition {
  /** The epoch of the log at that position; empty before the first grant. */
  readonly epoch: string;
  /** The position up to which alarms have become marks, ahead of other changes; behind the feed when there was no need. */
  readonly urgent: LogPosition;
  /** When the freshness of all links was compared last. */
  readonly sweptMs: number;
}

export interface AssistantMarkTable {
  /** Adds the mark to the present one of the same thing. The caller holds the grant's lock or the feed's. */
  add(mark: NewMark, nowMs: number): Promise<void>;
  /** Marks all things of every grant, and makes every grant due. */
  addToAll(nowMs: number): Promise<void>;
  /** The mark of one thing, due or not. */
  find(key: AssistantGrantKey, thingId: string): Promise<AssistantMark | undefined>;
  /** The marks of a grant that are due, urgent ones first; at most `limit`. */
  due(key: AssistantGrantKey, nowMs: number, limit: number): Promise<AssistantMark[]>;
  /**
   * Removes what was told: the state with all rises, or only some rises. A mark that has changed since stays, without the
   * rises that were told.
   */
  told(mark: AssistantMark, told: ToldOfMark): Promise<void>;
  /** The things that are to be told as removed later. */
  leaving(key: AssistantGrantKey, nowMs: number): Promise<string[]>;
  count(key: AssistantGrantKey): Promise<number>;
  /** Reads the feed's position and locks it until the transaction ends. */
  lockFeed(): Promise<AssistantFeed>;
  setFeed(feed: AssistantFeed): Promise<void>;
}

/** More alarms of one thing than a home has between two reports; beyond it the oldest are dropped. */
const risesKept = 10;

const columns = `m.owner_id AS "userId", m.outlet_id AS "outletId", m.thing_id AS "thingId", m.version,
  m.since_ms AS "sinceMs", m.state_ms AS "stateMs", m.sync_ms AS "syncMs", m.is_urgent AS "isUrgent", m.rises`;
const ofKey = "m.owner_id = $1 AND m.outlet_id = $2";
const ofRow = "owner_id = $1 AND outlet_id = $2 AND thing_id = $3";

type StoredMark = Omit<AssistantMark, "isUrgent" | "rises"> & { readonly isUrgent: number; readonly rises: string };

type StoredFeed = Omit<AssistantFeed, "urgent"> & { readonly urgentTransaction: number; readonly urgentId: number };

export function assistantMarkTable(sql: Sql): AssistantMarkTable {
  const forUpdate = sql.dialect === "postgres" ? " FOR UPDATE" : "";
  const find = async (userId: UserId, outletId: string, thingId: string) => {
    const [row] = await sql.all<StoredMark>(
      `SELECT ${columns} FROM assistant_marks m WHERE ${ofKey} AND m.thing_id = $3${forUpdate}`,
      [userId, outletId, thingId],
    );
    return row && fromStored(row);
  };
  const write = async (mark: AssistantMark) => {
    const { userId, outletId, thingId, version, sinceMs, stateMs, syncMs, isUrgent, rises } = mark;
    await sql.run(
      `INSERT INTO assistant_marks (owner_id, outlet_id, thing_id, version, since_ms, state_ms, sync_ms, due_ms, is_urgent,
         rises)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       ON CONFLICT (owner_id, outlet_id, thing_id) DO UPDATE SET version = excluded.version,
         since_ms = excluded.since_ms, state_ms = excluded.state_ms, sync_ms = excluded.sync_ms,
         due_ms = excluded.due_ms, is_urgent = excluded.is_urgent, rises = excluded.rises`,
      [
        userId,
        outletId,
        thingId,
        version,
        sinceMs,
        stateMs,
        syncMs,
        Math.min(stateMs ?? Number.MAX_SAFE_INTEGER, syncMs ?? Number.MAX_SAFE_INTEGER),
        isUrgent ? 1 : 0,
        JSON.stringify(rises),
      ],
    );
  };
  return {
    async add(mark, nowMs) {
      const { userId, outletId, thingId, stateMs, syncMs, isUrgent = false, rises = [] } = mark;
      const before = await find(userId, outletId, thingId);
      const syncBefore = mark.isBack || mark.isGone ? undefined : before?.syncMs;
      await write({
        userId,
        outletId,
        thingId,
        version: (before?.version ?? 0) + 1,
        sinceMs: Math.min(before?.sinceMs ?? nowMs, mark.sinceMs ?? nowMs),
        stateMs: earliest(before?.stateMs, stateMs),
        syncMs: earliest(syncBefore, syncMs),
        isUrgent: isUrgent || (before?.isUrgent ?? false),
        rises: [...(before?.rises ?? []), ...rises].slice(-risesKept),
      });
    },
    async addToAll(nowMs) {
      await sql.run(
        `INSERT INTO assistant_marks (owner_id, outlet_id, thing_id, version, since_ms, state_ms, sync_ms, due_ms,
           is_urgent, rises)
         SELECT a.owner_id, a.outlet_id, '', 1, CAST($1 AS BIGINT), CAST($1 AS BIGINT), CAST($1 AS BIGINT),
           CAST($1 AS BIGINT), 0, '[]' FROM assistant_grants a WHERE 1 = 1
         ON CONFLICT (owner_id, outlet_id, thing_id) DO UPDATE SET version = assistant_marks.version + 1,
           state_ms = excluded.state_ms, sync_ms = excluded.sync_ms, due_ms = excluded.due_ms`,
        [nowMs],
      );
      await sql.run("UPDATE assistant_grants SET due_ms = $1 WHERE due_ms IS NULL OR due_ms > $1", [nowMs]);
    },
    find: ({ userId, outletId }, thingId) => find(userId, outletId, thingId),
    due: async ({ userId, outletId }, nowMs, limit) =>
      (
        await sql.all<StoredMark>(
          `SELECT ${columns} FROM assistant_marks m WHERE ${ofKey} AND m.due_ms <= $3
           ORDER BY m.is_urgent DESC, m.since_ms, m.thing_id LIMIT $4`,
          [userId, outletId, nowMs, limit],
        )
      ).map(fromStored),
    async told(mark, told) {
      const { userId, outletId, thingId } = mark;
      const now = await find(userId, outletId, thingId);
      if (!now) return;
      const isChanged = now.version !== mark.version;
      const toldRises = told.state ? mark.rises : (told.rises ?? []);
      const left: AssistantMark = {
        ...now,
        stateMs: told.state && !isChanged ? null : now.stateMs,
        syncMs: told.sync && !isChanged ? null : now.syncMs,
        isUrgent: now.isUrgent && (isChanged || !told.state),
        rises: now.rises.filter((rise) => !toldRises.some((one) => isSame(one, rise))),
      };
      if (left.stateMs !== null || left.syncMs !== null) return write(left);
      await sql.run(`DELETE FROM assistant_marks WHERE ${ofRow}`, [userId, outletId, thingId]);
    },
    async leaving({ userId, outletId }, nowMs) {
      const rows = await sql.all<{ thingId: string }>(
        `SELECT m.thing_id AS "thingId" FROM assistant_marks m WHERE ${ofKey} AND m.sync_ms > $3 ORDER BY m.thing_id`,
        [userId, outletId, nowMs],
      );
      return rows.map(({ thingId }) => thingId);
    },
    async count({ userId, outletId }) {
      const [row] = await sql.all<{ count: number }>(`SELECT COUNT(*) AS count FROM assistant_marks m WHERE ${ofKey}`, [
        userId,
        outletId,
      ]);
      return Number(row?.count ?? 0);
    },
    async lockFeed() {
      const [row] = await sql.all<StoredFeed>(
        `SELECT transaction_id AS "transaction", entry_id AS id, epoch, swept_ms AS "sweptMs",
           urgent_transaction_id AS "urgentTransaction", urgent_entry_id AS "urgentId"
         FROM assistant_feed${forUpdate}`,
      );
      const { urgentTransaction, urgentId, ...feed } = row!;
      return { ...feed, urgent: { transaction: urgentTransaction, id: urgentId } };
    },
    async setFeed({ transaction, id, epoch, sweptMs, urgent }) {
      await sql.run(
        `UPDATE assistant_feed SET transaction_id = $1, entry_id = $2, epoch = $3, swept_ms = $4,
           urgent_transaction_id = $5, urgent_entry_id = $6`,
        [transaction, id, epoch, sweptMs, urgent.transaction, urgent.id],
      );
    },
  };
}

function fromStored({ isUrgent, rises, ...row }: StoredMark): AssistantMark {
  return { ...row, isUrgent: isUrgent !== 0, rises: JSON.parse(rises) as AlarmRise[] };
}

function earliest(one: number | null | undefined, other: number | undefined): number | null {
  if (one == null) return other ?? null;
  return other === undefined ? one : Math.min(one, other);
}

function isSame(one: AlarmRise, other: AlarmRise): boolean {
  return one.trait === other.trait && one.state === other.state && one.timeMs === other.timeMs;
}
