import type { DeviceId, UserId } from "../../model/ids.ts";
import type { SuspendedParty } from "../../model/suspension.ts";
import { first, type Parameter, type Sql } from "../sql.ts";
import { isGrantBetween, suspendedParty } from "./grants.ts";

export interface AssistantGrantKey {
  readonly userId: UserId;
  readonly outletId: string;
}

/** A user who has linked an assistant: to this user's account there, states are reported. */
export interface AssistantGrantRow extends AssistantGrantKey {
  readonly clientId: string;
  /** The user's id at the assistant. */
  readonly agentUserId: string;
  /** What the assistant gave for reports about this user, sealed JSON; null when the outlet's settings suffice. */
  readonly sealedCredential: string | null;
  readonly region: string | null;
  readonly sinceMs: number;
  /** The links whose things were reported as not reachable, because they are stale. */
  readonly staleDevices: readonly DeviceId[];
  /** The ids of devices that the assistant is not offered, because it takes no more; null before the first report. */
  readonly omitted: readonly string[] | null;
  /** When there is something to report: 0 for an emergency, unless its last attempt failed; null when there is nothing. */
  readonly dueMs: number | null;
  /** Fencing token: each claim has the next number. */
  readonly claim: number;
  /** Failed attempts since the last success. */
  readonly attempts: number;
  /** Why the last attempt failed; null after a success. */
  readonly problem: string | null;
  /** When the last report was accepted. */
  readonly reportedMs: number | null;
  /** Its suspended user or client; null: neither. Then nothing is reported. */
  readonly suspended: SuspendedParty | null;
}

/** A grant without `omitted`, which has 10,000 ids in a very large home. */
export type ListedGrant = Omit<AssistantGrantRow, "omitted">;

export interface DueGrant extends ListedGrant {
  /** There is an emergency to report, also one whose last attempt failed. */
  readonly isUrgent: boolean;
}

export type NewAssistantGrant = Pick<AssistantGrantRow, "userId" | "outletId" | "clientId" | "agentUserId"> &
  Partial<Pick<AssistantGrantRow, "sealedCredential" | "region">>;

export interface ClaimedGrant extends AssistantGrantRow {
  readonly claimedUntilMs: number;
}

/**
 * Grants of assistants. A grant is alive only while its outlet's client has a grant of the user that allows reading
 * devices. Queries return only live grants, so a revocation takes effect at once.
 */
export interface AssistantGrantTable {
  /** Adds the grant, or replaces its credential and region; returns whether it is new. */
  put(grant: NewAssistantGrant): Promise<boolean>;
  find(key: AssistantGrantKey): Promise<AssistantGrantRow | undefined>;
  /** Reads the grant and locks it until the transaction ends. */
  lock(key: AssistantGrantKey): Promise<ListedGrant | undefined>;
  /** Locks these grants in the order of their keys; returns those that are alive. */
  lockAll(keys: readonly AssistantGrantKey[]): Promise<ListedGrant[]>;
  /** The grants of these users. */
  ofUsers(userIds: readonly UserId[]): Promise<ListedGrant[]>;
  /** The grants of an outlet, by user. */
  ofOutlet(outletId: string, limit: number): Promise<ListedGrant[]>;
  countOfOutlet(outletId: string): Promise<number>;
  /** For each outlet with users whose last report failed: how many these are, and one of the reasons. */
  failing(): Promise<{ readonly outletId: string; readonly users: number; readonly problem: string }[]>;
  /** A page of all grants, by user and outlet. */
  page(after: AssistantGrantKey | undefined, limit: number): Promise<ListedGrant[]>;
  /** When the oldest report of the outlet became due that waits now; null when none waits. Suspended grants wait for none. */
  waitingSinceMs(outletId: string, nowMs: number): Promise<number | null>;
  isAny(): Promise<boolean>;
  /**
   * Grants that have something to report and that no node has claimed; emergencies first. Of the outlets in `busy` only
   * emergencies, of those in `full` none.
   */
  due(
    nowMs: number,
    limit: number,
    except?: { readonly busy: readonly string[]; readonly full: readonly string[] },
  ): Promise<DueGrant[]>;
  /**
   * Claims the grant for one sender until that time; undefined when another one has claimed it, or nothing is due. A grant
   * of a suspended user or client is not claimed: it is due again later.
   */
  claim(key: AssistantGrantKey, nowMs: number, untilMs: number): Promise<ClaimedGrant | undefined>;
  /** Whether this claim is still the newest one, and the grant alive and not suspended. Locks the grant. */
  holds(grant: ClaimedGrant): Promise<boolean>;
  /**
   * Prolongs the claim until that time, if it is still the newest one and the grant alive. `told`: what is about to be
   * told as stale, and what is no longer offered.
   */
  prolong(grant: ClaimedGrant, untilMs: number, reportBaseline?: ReportBaseline): Promise<boolean>;
  /** Ends the claim, if it is still the newest one. */
  release(grant: ClaimedGrant, after: GrantProgress): Promise<boolean>;
  /**
   * Makes the grant due at that time, if it would be due later. After a failed attempt only an emergency, with 0, does:
   * everything else waits as long as the assistant needs.
   */
  wakeAt(key: AssistantGrantKey, dueMs: number): Promise<void>;
  /** Does the same for several grants, with one statement. */
  wakeEachAt(wakes: readonly (AssistantGrantKey & { readonly dueMs: number })[]): Promise<void>;
  /** Makes the grant due at that time, also after a failed attempt, if it waits for something. */
  wakeResumed(key: AssistantGrantKey, dueMs: number): Promise<void>;
  /** Makes all grants of a client due at that time that would be due later. */
  wakeOfClient(clientId: string, dueMs: number): Promise<void>;
  /** Shortens claims and waits that are longer than any that is made: the store's clock was set back. */
  correctTimes(nowMs: number): Promise<void>;
  /** Stores which devices the assistant is not offered. */
  setOmitted(key: AssistantGrantKey, omitted: readonly string[]): Promise<void>;
  /** Replaces the credential, unless another one was stored meanwhile; returns whether it was replaced. */
  replaceCredential(key: AssistantGrantKey, before: string | null, sealedCredential: string): Promise<boolean>;
  /** Removes the grant with everything that waits for it; returns whether it existed. */
  remove(key: AssistantGrantKey): Promise<boolean>;
  /** Removes everything of this user, deliveries too. */
  removeOfUser(userId: UserId): Promise<number>;
  /** Removes grants that are no longer alive, at most `limit`; returns how many. */
  removeDead(limit: number): Promise<number>;
}

/** What is stored of a report before its first message. */
export type ReportBaseline = Pick<AssistantGrantRow, "staleDevices" | "omitted">;

/** The outcome of a claim. */
export interface GrantProgress {
  /** When the grant is due again; undefined: when its next mark is. */
  readonly retryMs?: number | undefined;
  readonly attempts: number;
  readonly problem: string | null;
  readonly reportedMs: number | null;
  readonly staleDevices: readonly DeviceId[];
}

const columns = `a.owner_id AS "userId", a.outlet_id AS "outletId", a.client_id AS "clientId",
  a.agent_user_id AS "agentUserId", a.sealed_credential AS "sealedCredential", a.region, a.since_ms AS "sinceMs",
  a.stale_devices AS "staleDevices", a.due_ms AS "dueMs", a.claim, a.attempts, a.problem,
  a.reported_ms AS "reportedMs", ${suspendedParty("a")} AS suspended`;
const isAlive = `EXISTS (SELECT 1 FROM grants g WHERE ${isGrantBetween("a.owner_id", "a.client_id")}
  AND g.reach = 'user' AND (g.scope IS NULL OR g.scope LIKE '%devices:read%'))
  AND EXISTS (SELECT 1 FROM assistant_outlets o WHERE o.id = a.outlet_id)`;
const ofKey = "a.owner_id = $1 AND a.outlet_id = $2";
const ofRow = "owner_id = $1 AND outlet_id = $2";
const isWaiting = "a.due_ms IS NOT NULL AND a.due_ms <= $1 AND a.claimed_until_ms <= $1";
/** Tables with rows that wait for a grant. */
const waiting = ["assistant_marks", "assistant_replies"];

/** Nothing is made to wait for longer, and no claim is made for longer. */
const longestWaitMs = 20 * 60_000;
const longestClaimMs = 60_000;

/** How long a grant of a suspended user or client waits until it is looked at again. */
const suspendedMs = 600_000;

type StoredGrant = Omit<ListedGrant, "staleDevices"> & { readonly staleDevices: string };

export function assistantGrantTable(sql: Sql): AssistantGrantTable {
  const forUpdate = sql.dialect === "postgres" ? " FOR UPDATE OF a" : "";
  const among = sql.dialect === "postgres" ? "= ANY($1::int[])" : "IN (SELECT value FROM json_each($1))";
  const amongTexts = (place: string) =>
    sql.dialect === "postgres" ? `= ANY(${place}::text[])` : `IN (SELECT value FROM json_each(${place}))`;
  const rows = async (tail: string, parameters: readonly Parameter[]) =>
    (
      await sql.all<StoredGrant>(`SELECT ${columns} FROM assistant_grants a WHERE ${isAlive} AND ${tail}`, parameters)
    ).map(fromStored);
  const one = async ({ userId, outletId }: AssistantGrantKey, tail = ""): Promise<AssistantGrantRow | undefined> => {
    const [row] = await sql.all<StoredGrant & { readonly omitted: string | null }>(
      `SELECT ${columns}, a.omitted FROM assistant_grants a WHERE ${isAlive} AND ${ofKey}${tail}`,
      [userId, outletId],
    );
    if (!row) return undefined;
    const { omitted, ...stored } = row;
    return { ...fromStored(stored), omitted: omitted === null ? null : (JSON.parse(omitted) as string[]) };
  };
  const lock = ({ userId, outletId }: AssistantGrantKey) => first(rows(`${ofKey}${forUpdate}`, [userId, outletId]));
  const elements = sql.dialect === "postgres" ? "json_array_elements($1::json)" : "json_each($1)";
  const wakeEachAt: AssistantGrantTable["wakeEachAt"] = async (wakes) => {
    await sql.run(
      `UPDATE assistant_grants SET due_ms = w.due_ms
       FROM (SELECT CAST(r.value->>0 AS INTEGER) AS owner_id, r.value->>1 AS outlet_id, CAST(r.value->>2 AS BIGINT) AS due_ms
         FROM ${elements} AS r) AS w
       WHERE assistant_grants.owner_id = w.owner_id AND assistant_grants.outlet_id = w.outlet_id
         AND (assistant_grants.due_ms IS NULL OR (assistant_grants.due_ms > w.due_ms AND (attempts = 0 OR w.due_ms = 0)))`,
      [JSON.stringify(wakes.map(({ userId, outletId, dueMs }) => [userId, outletId, dueMs]))],
    );
  };
  const holds = async (grant: ClaimedGrant) => {
    const row = await lock(grant);
    return row?.claim === grant.claim && row.suspended === null;
  };
  const remove = async ({ userId, outletId }: AssistantGrantKey) => {
    // Every transaction locks the grant before its marks.
    if (sql.dialect === "postgres") {
      await sql.all(`SELECT 1 FROM assistant_grants WHERE ${ofRow} FOR UPDATE`, [userId, outletId]);
    }
    for (const table of waiting) await sql.run(`DELETE FROM ${table} WHERE ${ofRow}`, [userId, outletId]);
    return (await sql.run(`DELETE FROM assistant_grants WHERE ${ofRow}`, [userId, outletId])) > 0;
  };
  return {
    async put({ userId, outletId, clientId, agentUserId, sealedCredential = null, region = null }) {
      const added = await sql.run(
        `INSERT INTO assistant_grants (owner_id, outlet_id, client_id, agent_user_id, sealed_credential, region, since_ms,
           omitted)
         VALUES ($1, $2, $3, $4, $5, $6, $7, NULL) ON CONFLICT (owner_id, outlet_id) DO NOTHING`,
        [userId, outletId, clientId, agentUserId, sealedCredential, region, await sql.nowMs()],
      );
      if (added > 0) return true;
      await sql.run(
        `UPDATE assistant_grants SET sealed_credential = $3, region = $4, attempts = 0, problem = NULL WHERE ${ofRow}`,
        [userId, outletId, sealedCredential, region],
      );
      return false;
    },
    find: (key) => one(key),
    lock,
    lockAll: (keys) =>
      rows(
        `(a.owner_id, a.outlet_id) IN (SELECT CAST(r.value->>0 AS INTEGER), r.value->>1 FROM ${elements} AS r)
         ORDER BY a.owner_id, a.outlet_id${forUpdate}`,
        [JSON.stringify(keys.map(({ userId, outletId }) => [userId, outletId]))],
      ),
    ofUsers: (userIds) => rows(`a.owner_id ${among} ORDER BY a.owner_id, a.outlet_id`, [userIds]),
    ofOutlet: (outletId, limit) => rows("a.outlet_id = $1 ORDER BY a.owner_id LIMIT $2", [outletId, limit]),
    async countOfOutlet(outletId) {
      const [row] = await sql.all<{ count: number }>(
        `SELECT COUNT(*) AS count FROM assistant_grants a WHERE ${isAlive} AND a.outlet_id = $1`,
        [outletId],
      );
      return Number(row?.count ?? 0);
    },
    failing: () =>
      sql.all(
        `SELECT a.outlet_id AS "outletId", COUNT(*) AS users, MIN(a.problem) AS problem FROM assistant_grants a
         WHERE a.problem IS NOT NULL AND ${isAlive} GROUP BY a.outlet_id ORDER BY a.outlet_id`,
      ),
    page: (after, limit) =>
      rows("(a.owner_id, a.outlet_id) > ($1, $2) ORDER BY a.owner_id, a.outlet_id LIMIT $3", [
        after?.userId ?? 0,
        after?.outletId ?? "",
        limit,
      ]),
    async waitingSinceMs(outletId, nowMs) {
      const [row] = await sql.all<{ sinceMs: number | null }>(
        `SELECT MIN(m.due_ms) AS "sinceMs" FROM assistant_grants a
         JOIN assistant_marks m ON m.owner_id = a.owner_id AND m.outlet_id = a.outlet_id
         WHERE a.outlet_id = $1 AND a.due_ms IS NOT NULL AND m.due_ms <= $2 AND ${isAlive}
           AND ${suspendedParty("a")} IS NULL`,
        [outletId, nowMs],
      );
      return row?.sinceMs ?? null;
    },
    isAny: async () => (await sql.all("SELECT 1 FROM assistant_grants LIMIT 1")).length > 0,
    async due(nowMs, limit, { busy, full } = { busy: [], full: [] }) {
      // Urgent marks have an index of their own, so this finds an emergency behind any number of other grants.
      const urgent = await rows(
        `${isWaiting} AND NOT a.outlet_id ${amongTexts("$3")} AND (a.owner_id, a.outlet_id) IN
           (SELECT m.owner_id, m.outlet_id FROM assistant_marks m WHERE m.is_urgent = 1)
         ORDER BY a.due_ms LIMIT $2`,
        [nowMs, limit, full],
      );
      const others = await rows(
        `${isWaiting} AND NOT (a.due_ms > 0 AND a.outlet_id ${amongTexts("$3")}) AND NOT a.outlet_id ${amongTexts("$4")}
         ORDER BY a.due_ms LIMIT $2`,
        [nowMs, limit, busy, full],
      );
      const isListed = (grant: ListedGrant) =>
        urgent.some(({ userId, outletId }) => userId === grant.userId && outletId === grant.outletId);
      return [
        ...urgent.map((grant) => ({ ...grant, isUrgent: true })),
        ...others.filter((grant) => !isListed(grant)).map((grant) => ({ ...grant, isUrgent: grant.dueMs === 0 })),
      ].slice(0, limit);
    },
    async claim(key, nowMs, untilMs) {
      const grant = await one(key, forUpdate);
      if (grant?.dueMs == null || grant.dueMs > nowMs) return undefined;
      if (grant.suspended) {
        await sql.run(`UPDATE assistant_grants SET due_ms = $3 WHERE ${ofRow}`, [
          key.userId,
          key.outletId,
          nowMs + suspendedMs,
        ]);
        return undefined;
      }
      const claim = grant.claim + 1;
      const isClaimed = await sql.run(
        `UPDATE assistant_grants SET claim = $3, claimed_until_ms = $4 WHERE ${ofRow} AND claimed_until_ms <= $5`,
        [key.userId, key.outletId, claim, untilMs, nowMs],
      );
      return isClaimed > 0 ? { ...grant, claim, claimedUntilMs: untilMs } : undefined;
    },
    holds,
    async prolong(grant, untilMs, reportBaseline) {
      if (!(await holds(grant))) return false;
      const { userId, outletId } = grant;
      await sql.run(
        `UPDATE assistant_grants SET claimed_until_ms = $3${reportBaseline ? ", stale_devices = $4, omitted = $5" : ""}
         WHERE ${ofRow}`,
        [
          userId,
          outletId,
          untilMs,
          ...(reportBaseline ? [JSON.stringify(reportBaseline.staleDevices), inText(reportBaseline.omitted)] : []),
        ],
      );
      return true;
    },
    async release({ userId, outletId, claim }, { retryMs, attempts, problem, reportedMs, staleDevices }) {
      const nextMark = `SELECT MIN(CASE WHEN m.is_urgent = 1 THEN 0 ELSE m.due_ms END) FROM assistant_marks m
        WHERE m.owner_id = $1 AND m.outlet_id = $2`;
      const released = await sql.run(
        `UPDATE assistant_grants SET claimed_until_ms = 0, attempts = $4, problem = $5, reported_ms = $6,
           stale_devices = $7, due_ms = ${retryMs === undefined ? `(${nextMark})` : "$8"}
         WHERE ${ofRow} AND claim = $3`,
        [
          userId,
          outletId,
          claim,
          attempts,
          problem,
          reportedMs,
          JSON.stringify(staleDevices),
          ...(retryMs === undefined ? [] : [retryMs]),
        ],
      );
      return released > 0;
    },
    wakeAt: (key, dueMs) => wakeEachAt([{ ...key, dueMs }]),
    wakeEachAt,
    async wakeResumed({ userId, outletId }, dueMs) {
      await sql.run(`UPDATE assistant_grants SET due_ms = $3 WHERE ${ofRow} AND due_ms > $3`, [
        userId,
        outletId,
        dueMs,
      ]);
    },
    async wakeOfClient(clientId, dueMs) {
      await sql.run("UPDATE assistant_grants SET due_ms = $2 WHERE client_id = $1 AND due_ms > $2", [clientId, dueMs]);
    },
    async correctTimes(nowMs) {
      const longMs = nowMs + longestWaitMs;
      // Every transaction locks the grant before its marks.
      if (sql.dialect === "postgres") {
        await sql.all("SELECT 1 FROM assistant_grants ORDER BY owner_id, outlet_id FOR UPDATE");
      }
      await sql.run(
        `UPDATE assistant_marks SET version = version + 1,
           state_ms = CASE WHEN state_ms IS NULL THEN NULL ELSE CAST($2 AS BIGINT) END,
           sync_ms = CASE WHEN sync_ms IS NULL THEN NULL ELSE CAST($1 AS BIGINT) END,
           due_ms = CASE WHEN state_ms IS NULL THEN CAST($1 AS BIGINT) ELSE CAST($2 AS BIGINT) END
         WHERE due_ms > CAST($1 AS BIGINT)`,
        [longMs, nowMs],
      );
      await sql.run("UPDATE assistant_grants SET due_ms = $2 WHERE due_ms > $1", [longMs, nowMs]);
      await sql.run("UPDATE assistant_grants SET claimed_until_ms = $1 WHERE claimed_until_ms > $1", [
        nowMs + longestClaimMs,
      ]);
    },
    async setOmitted({ userId, outletId }, omitted) {
      await sql.run(`UPDATE assistant_grants SET omitted = $3 WHERE ${ofRow}`, [userId, outletId, inText(omitted)]);
    },
    async replaceCredential({ userId, outletId }, before, sealedCredential) {
      const isSame = before === null ? "sealed_credential IS NULL" : "sealed_credential = $4";
      const replaced = await sql.run(
        `UPDATE assistant_grants SET sealed_credential = $3 WHERE ${ofRow} AND ${isSame}`,
        [userId, outletId, sealedCredential, ...(before === null ? [] : [before])],
      );
      return replaced > 0;
    },
    remove,
    async removeOfUser(userId) {
      // Every transaction locks the grant before its marks: another one may be adding some.
      if (sql.dialect === "postgres") {
        await sql.all("SELECT 1 FROM assistant_grants WHERE owner_id = $1 ORDER BY outlet_id FOR UPDATE", [userId]);
      }
      for (const table of [...waiting, "assistant_deliveries"]) {
        await sql.run(`DELETE FROM ${table} WHERE owner_id = $1`, [userId]);
      }
      return sql.run("DELETE FROM assistant_grants WHERE owner_id = $1", [userId]);
    },
    async removeDead(limit) {
      const dead = await sql.all<AssistantGrantKey>(
        `SELECT a.owner_id AS "userId", a.outlet_id AS "outletId" FROM assistant_grants a WHERE NOT (${isAlive}) LIMIT $1`,
        [limit],
      );
      for (const key of dead) await remove(key);
      return dead.length;
    },
  };
}

function inText(ids: readonly string[] | null): string | null {
  return ids && JSON.stringify(ids);
}

function fromStored({ staleDevices, ...row }: StoredGrant): ListedGrant {
  return { ...row, staleDevices: JSON.parse(staleDevices) as DeviceId[] };
}
