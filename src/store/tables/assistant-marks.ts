import { first, type Sql } from "../sql.ts";
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

/** What a message that was sent says of a thing. */
export interface SentOfMark {
  readonly state: boolean;
  readonly sync: boolean;
  /** The rises that were sent before the state; all of the mark's when the state was sent. */
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

/** A change to be told, before it is known to which grants. */
export type MarkOfGrant = Omit<NewMark, keyof AssistantGrantKey>;

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
  /** Adds marks, as `add` does, with two statements; returns these marks as they are now. */
  addAll(marks: readonly NewMark[], nowMs: number): Promise<AssistantMark[]>;
  /** Marks all things of every grant, and makes every grant due. */
  addToAll(nowMs: number): Promise<void>;
  /** The mark of one thing, due or not. */
  find(key: AssistantGrantKey, thingId: string): Promise<AssistantMark | undefined>;
  /** The marks of these things, due or not. */
  some(key: AssistantGrantKey, thingIds: readonly string[]): Promise<AssistantMark[]>;
  /** The marks of a grant that are due, urgent ones first, which are always due; at most `limit`. */
  due(key: AssistantGrantKey, nowMs: number, limit: number): Promise<AssistantMark[]>;
  /** All marks of a grant by which it is due to be told that things were added, changed or removed. */
  dueSyncs(key: AssistantGrantKey, nowMs: number): Promise<AssistantMark[]>;
  /**
   * Removes what was sent: the state with all rises, or only some rises. A mark that has changed since it was read stays,
   * without the rises that were sent.
   */
  removeSent(mark: AssistantMark, sent: SentOfMark): Promise<void>;
  /** Removes what was sent of marks of one grant, as `removeSent` does, with three statements. */
  removeAllSent(
    key: AssistantGrantKey,
    marks: readonly AssistantMark[],
    sentOf: (mark: AssistantMark) => SentOfMark,
  ): Promise<void>;
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

type StoredMark = Omit<AssistantMark, "isUrgent" | "rises"> & { readonly isUrgent: number; readonly rises: string };

type StoredFeed = Omit<AssistantFeed, "urgent"> & { readonly urgentTransaction: number; readonly urgentId: number };

export function assistantMarkTable(sql: Sql): AssistantMarkTable {
  const forUpdate = sql.dialect === "postgres" ? " FOR UPDATE" : "";
  const among = sql.dialect === "postgres" ? "= ANY($3::text[])" : "IN (SELECT value FROM json_each($3))";
  const elements = (place: string) =>
    sql.dialect === "postgres" ? `json_array_elements(${place}::json)` : `json_each(${place})`;
  const integer = (column: number) => `CAST(r.value->>${column} AS BIGINT)`;
  const some = async ({ userId, outletId }: AssistantGrantKey, thingIds: readonly string[]) =>
    (
      await sql.all<StoredMark>(
        `SELECT ${columns} FROM assistant_marks m WHERE ${ofKey} AND m.thing_id ${among}
         ORDER BY m.thing_id${forUpdate}`,
        [userId, outletId, thingIds],
      )
    ).map(fromStored);
  const ofThings = async (marks: readonly Pick<AssistantMark, keyof AssistantGrantKey | "thingId">[]) =>
    (
      await sql.all<StoredMark>(
        `SELECT ${columns} FROM assistant_marks m WHERE (m.owner_id, m.outlet_id, m.thing_id) IN
           (SELECT CAST(r.value->>0 AS INTEGER), r.value->>1, r.value->>2 FROM ${elements("$1")} AS r)
         ORDER BY m.owner_id, m.outlet_id, m.thing_id${forUpdate}`,
        [JSON.stringify(marks.map(({ userId, outletId, thingId }) => [userId, outletId, thingId]))],
      )
    ).map(fromStored);
  const write = async (marks: readonly AssistantMark[]) => {
    const rows = marks.map(({ userId, outletId, thingId, version, sinceMs, stateMs, syncMs, isUrgent, rises }) => {
      const dueMs = Math.min(stateMs ?? Number.MAX_SAFE_INTEGER, syncMs ?? Number.MAX_SAFE_INTEGER);
      const times = [version, sinceMs, stateMs, syncMs, dueMs];
      return [userId, outletId, thingId, ...times, isUrgent ? 1 : 0, JSON.stringify(rises)];
    });
    await sql.run(
      `INSERT INTO assistant_marks (owner_id, outlet_id, thing_id, version, since_ms, state_ms, sync_ms, due_ms, is_urgent,
         rises)
       SELECT CAST(r.value->>0 AS INTEGER), r.value->>1, r.value->>2, ${[3, 4, 5, 6, 7, 8].map(integer).join(", ")},
         r.value->>9
       FROM ${elements("$1")} AS r WHERE 1 = 1
       ON CONFLICT (owner_id, outlet_id, thing_id) DO UPDATE SET version = excluded.version,
         since_ms = excluded.since_ms, state_ms = excluded.state_ms, sync_ms = excluded.sync_ms,
         due_ms = excluded.due_ms, is_urgent = excluded.is_urgent, rises = excluded.rises`,
      [JSON.stringify(rows)],
    );
  };
  const addAll: AssistantMarkTable["addAll"] = async (marks, nowMs) => {
    if (marks.length === 0) return [];
    const changes = Map.groupBy(marks, nameOf);
    const before = new Map(
      (await ofThings([...changes.values()].map(([mark]) => mark!))).map((mark) => [nameOf(mark), mark]),
    );
    const now = [...changes].map(([name, ofThing]) =>
      ofThing.reduce<AssistantMark | undefined>((mark, change) => withChange(mark, change, nowMs), before.get(name)),
    ) as AssistantMark[];
    await write(now);
    return now;
  };
  const removeAllSent: AssistantMarkTable["removeAllSent"] = async ({ userId, outletId }, marks, sentOf) => {
    if (marks.length === 0) return;
    const key = { userId, outletId };
    const read = new Map(marks.map((mark) => [mark.thingId, mark]));
    const now = (await some(key, [...read.keys()])).map((mark) => {
      const before = read.get(mark.thingId)!;
      return withoutSent(mark, before, sentOf(before));
    });
    const isLeft = ({ stateMs, syncMs }: AssistantMark) => stateMs !== null || syncMs !== null;
    const left = now.filter(isLeft);
    const removed = now.filter((mark) => !isLeft(mark)).map(({ thingId }) => thingId);
    if (left.length > 0) await write(left);
    if (removed.length === 0) return;
    await sql.run(`DELETE FROM assistant_marks WHERE owner_id = $1 AND outlet_id = $2 AND thing_id ${among}`, [
      userId,
      outletId,
      removed,
    ]);
  };
  return {
    async add(mark, nowMs) {
      await addAll([mark], nowMs);
    },
    addAll,
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
    find: (key, thingId) => first(some(key, [thingId])),
    some,
    due: async ({ userId, outletId }, nowMs, limit) =>
      (
        await sql.all<StoredMark>(
          `SELECT ${columns} FROM assistant_marks m WHERE ${ofKey} AND (m.due_ms <= $3 OR m.is_urgent = 1)
           ORDER BY m.is_urgent DESC, m.since_ms, m.thing_id LIMIT $4`,
          [userId, outletId, nowMs, limit],
        )
      ).map(fromStored),
    dueSyncs: async ({ userId, outletId }, nowMs) =>
      (
        await sql.all<StoredMark>(
          `SELECT ${columns} FROM assistant_marks m WHERE ${ofKey} AND m.sync_ms <= $3 ORDER BY m.thing_id`,
          [userId, outletId, nowMs],
        )
      ).map(fromStored),
    removeSent: (mark, sent) => removeAllSent(mark, [mark], () => sent),
    removeAllSent,
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

function nameOf({ userId, outletId, thingId }: Pick<AssistantMark, keyof AssistantGrantKey | "thingId">): string {
  return JSON.stringify([userId, outletId, thingId]);
}

function fromStored({ isUrgent, rises, ...row }: StoredMark): AssistantMark {
  return { ...row, isUrgent: isUrgent !== 0, rises: JSON.parse(rises) as AlarmRise[] };
}

/** The mark of a thing after one more change. */
function withChange(before: AssistantMark | undefined, mark: NewMark, nowMs: number): AssistantMark {
  const { userId, outletId, thingId, stateMs, syncMs, isUrgent = false, rises = [] } = mark;
  const syncBefore = mark.isBack || mark.isGone ? undefined : before?.syncMs;
  return {
    userId,
    outletId,
    thingId,
    version: (before?.version ?? 0) + 1,
    // A thing that is back was known before, perhaps with more parts.
    sinceMs: mark.isBack && before ? 0 : Math.min(before?.sinceMs ?? nowMs, mark.sinceMs ?? nowMs),
    stateMs: earliest(before?.stateMs, stateMs),
    syncMs: earliest(syncBefore, syncMs),
    isUrgent: isUrgent || (before?.isUrgent ?? false),
    rises: [...(before?.rises ?? []), ...rises].slice(-risesKept),
  };
}

/** What is left of a mark, after what was sent of it as it was read `before`. */
function withoutSent(now: AssistantMark, before: AssistantMark, sent: SentOfMark): AssistantMark {
  const isChanged = now.version !== before.version;
  const sentRises = sent.state ? before.rises : (sent.rises ?? []);
  return {
    ...now,
    // The state of a thing that is to be added later is told again after that.
    stateMs: sent.state && !isChanged ? (sent.sync ? null : now.syncMs) : now.stateMs,
    syncMs: sent.sync && !isChanged ? null : now.syncMs,
    isUrgent: now.isUrgent && (isChanged || !sent.state),
    rises: now.rises.filter((rise) => !sentRises.some((one) => isSame(one, rise))),
  };
}

function earliest(one: number | null | undefined, other: number | undefined): number | null {
  if (one == null) return other ?? null;
  return other === undefined ? one : Math.min(one, other);
}

function isSame(one: AlarmRise, other: AlarmRise): boolean {
  return one.trait === other.trait && one.state === other.state && one.timeMs === other.timeMs;
}
