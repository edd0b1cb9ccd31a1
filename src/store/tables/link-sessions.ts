import type { DeviceId, OwnerId, TenantId, UserId } from "../../model/ids.ts";
import { first, isStorable, type Parameter, type Sql } from "../sql.ts";

/** Identifies a link session: its owner is the user, or the tenant, for whom its client has made it. */
export interface LinkSessionKey {
  readonly ownerId: OwnerId;
  readonly id: string;
}

/**
 * `open`: waits for the user or for the ecosystem's callback. `exchanging`: a node exchanges the code. `reading`: the
 * credential is stored, and a node links the account. `unread`: the credential is stored, and the ecosystem did not
 * answer. `asking`: the credential belongs to another account than the link, and the user decides. The others are ends.
 * `expired`: its time was over, and its client was told. `discarding`: the same, and its credential is still to be
 * revoked. Nodes of versions before know both as expired by their time.
 */
export type LinkSessionPhase =
  | "open"
  | "exchanging"
  | "reading"
  | "unread"
  | "asking"
  | "linked"
  | "declined"
  | "failed"
  | "expired"
  | "discarding";

/** A session in which an account's owner links the account on our pages. */
export interface LinkSessionRow extends LinkSessionKey, LinkSessionProgress {
  readonly tenantId: TenantId;
  readonly clientId: string;
  readonly ecosystem: string;
  readonly mode: "link" | "renew";
  readonly returnUrl: string | null;
  /** The client's own `state`. */
  readonly clientState: string | null;
  /** The SHA-256 of the secret in the page's address. */
  readonly tokenHash: string;
  readonly createdMs: number;
  readonly expiresMs: number;
}

/** What changes while a session lasts. */
export interface LinkSessionProgress {
  /** The user whose account will see the home; null until one has signed in. */
  readonly userId: UserId | null;
  readonly isSignedIn: boolean;
  /** The SHA-256 of the secret in the browser's cookie; null until a browser has sent a form. */
  readonly browserHash: string | null;
  /** The SHA-256 of the state that the ecosystem gets. */
  readonly stateHash: string | null;
  /** The sealed secrets of the session (link-sessions/session-secrets.ts). */
  readonly sealed: string;
  /** Counts exchanges: each one needs a new consent. */
  readonly attempt: number;
  readonly phase: LinkSessionPhase;
  /** When a node began the work of this phase. It is the node's fencing token. */
  readonly claimedMs: number | null;
  /** What went wrong last, as JSON. */
  readonly problem: string | null;
  readonly deviceId: DeviceId | null;
  /** What the account shows, as JSON. */
  readonly summary: string | null;
}

/** The position of a session in the order of expiry. */
export type LinkSessionPosition = Pick<LinkSessionRow, "expiresMs" | "ownerId" | "id">;

export interface LinkSessionTable {
  add(session: LinkSessionRow): Promise<void>;
  find(key: LinkSessionKey): Promise<LinkSessionRow | undefined>;
  /** Finds a session by the secret in its page's address, or by the state that the ecosystem sends back. */
  byHash(
    column: "token" | "state",
    key: { readonly ownerId: OwnerId; readonly hash: string },
  ): Promise<LinkSessionRow | undefined>;
  /** Reads a session and locks it until the transaction ends. */
  lock(key: LinkSessionKey): Promise<LinkSessionRow | undefined>;
  /** Stores the progress of a session that the caller has locked. */
  save(session: LinkSessionRow): Promise<void>;
  remove(key: LinkSessionKey): Promise<void>;
  /**
   * How many sessions of one client the owner has; counts no further than `most`. Sessions that expired before `sinceMs`
   * are left out: only those whose credential is still to be revoked are kept so long.
   */
  count(ownerId: OwnerId, clientId: string, most: number, sinceMs: number): Promise<number>;
  /** Nobody is signed in to the sessions of a user any more, also in those that a company has made for the user. */
  signOut(userId: UserId): Promise<void>;
  /** Removes the sessions of a user, also those that a company has made for the user. */
  removeOfUser(userId: UserId): Promise<number>;
  /** At most `limit` sessions after `after` whose time was over at that time and which have no end, oldest first. */
  unended(atMs: number, limit: number, after?: LinkSessionPosition): Promise<LinkSessionRow[]>;
  /**
   * At most `limit` owners after `after` of sessions whose credential is still to be revoked, in ascending order. Owners
   * of whom a node has claimed such a session after `claimedAfterMs` are left out.
   */
  undiscardedOwners(claimedAfterMs: number, limit: number, after?: OwnerId): Promise<OwnerId[]>;
  /** At most `limit` sessions of an owner after `afterId` whose credential is still to be revoked, in ascending order. */
  undiscarded(ownerId: OwnerId, afterId: string, limit: number): Promise<UndiscardedSession[]>;
  /** No node works on any session: ends all claims. */
  releaseClaims(): Promise<void>;
  /**
   * Removes at most `limit` sessions that have an end and expired before that time, and returns how many. Sessions whose
   * credential is still to be revoked are kept.
   */
  removeExpired(beforeMs: number, limit: number): Promise<number>;
  /** Removes at most `limit` sessions that expired before that time with a credential that nobody could revoke. */
  removeUndiscarded(beforeMs: number, limit: number): Promise<number>;
}

/** An expired session whose credential is still to be revoked. */
export type UndiscardedSession = Pick<LinkSessionRow, "ownerId" | "id" | "ecosystem" | "sealed">;

const columns = `owner_id AS "ownerId", id, tenant_id AS "tenantId", client_id AS "clientId", user_id AS "userId",
  ecosystem, mode, return_url AS "returnUrl", client_state AS "clientState", token_hash AS "tokenHash",
  state_hash AS "stateHash", browser_hash AS "browserHash", is_signed_in AS "isSignedIn", sealed, attempt, phase,
  claimed_ms AS "claimedMs", problem, device_id AS "deviceId", summary, created_ms AS "createdMs",
  expires_ms AS "expiresMs"`;

/** The condition of the index `link_sessions_unended` (schema-steps/links.ts), word for word. */
const hasNoEnd = "phase IN ('open', 'exchanging', 'reading', 'unread', 'asking')";

/** The condition of the index `link_sessions_undiscarded`, word for word. */
const isUndiscarded = "phase = 'discarding'";

/** Sorts before all sessions. */
const beforeAll = { expiresMs: -1, ownerId: 0, id: "" };

/** The least 32-bit integer, before all owners: tenants have negative ids. */
const beforeAllOwners = -(2 ** 31);

type StoredSession = Omit<LinkSessionRow, "isSignedIn"> & { readonly isSignedIn: number };

export function linkSessionTable(sql: Sql): LinkSessionTable {
  const rows = async (tail: string, parameters: readonly Parameter[], table = "link_sessions") =>
    (await sql.all<StoredSession>(`SELECT ${columns} FROM ${table} WHERE ${tail}`, parameters)).map(
      ({ isSignedIn, ...row }): LinkSessionRow => ({ ...row, isSignedIn: isSignedIn !== 0 }),
    );
  const forUpdate = sql.dialect === "postgres" ? " FOR UPDATE" : "";
  const ofKey = "owner_id = $1 AND id = $2";
  // SQLite has no statistics, and would read all sessions of the last day.
  const indexedBy = (index: string) =>
    sql.dialect === "sqlite" ? `link_sessions INDEXED BY ${index}` : "link_sessions";
  return {
    async add(session) {
      await sql.run(
        `INSERT INTO link_sessions (owner_id, id, tenant_id, client_id, user_id, ecosystem, mode, return_url,
           client_state, token_hash, state_hash, browser_hash, is_signed_in, sealed, attempt, phase, claimed_ms, problem,
           device_id, summary, created_ms, expires_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`,
        [
          session.ownerId,
          session.id,
          session.tenantId,
          session.clientId,
          session.userId,
          session.ecosystem,
          session.mode,
          session.returnUrl,
          session.clientState,
          session.tokenHash,
          session.stateHash,
          session.browserHash,
          session.isSignedIn ? 1 : 0,
          session.sealed,
          session.attempt,
          session.phase,
          session.claimedMs,
          session.problem,
          session.deviceId,
          session.summary,
          session.createdMs,
          session.expiresMs,
        ],
      );
    },
    // No session has an id that can't be stored.
    find: async ({ ownerId, id }) => (isStorable(id) ? first(rows(ofKey, [ownerId, id])) : undefined),
    byHash: (column, { ownerId, hash }) => first(rows(`owner_id = $1 AND ${column}_hash = $2`, [ownerId, hash])),
    lock: ({ ownerId, id }) => first(rows(`${ofKey}${forUpdate}`, [ownerId, id])),
    async save(session) {
      await sql.run(
        `UPDATE link_sessions SET user_id = $3, state_hash = $4, browser_hash = $5, is_signed_in = $6, sealed = $7,
           attempt = $8, phase = $9, claimed_ms = $10, problem = $11, device_id = $12, summary = $13 WHERE ${ofKey}`,
        [
          session.ownerId,
          session.id,
          session.userId,
          session.stateHash,
          session.browserHash,
          session.isSignedIn ? 1 : 0,
          session.sealed,
          session.attempt,
          session.phase,
          session.claimedMs,
          session.problem,
          session.deviceId,
          session.summary,
        ],
      );
    },
    async remove({ ownerId, id }) {
      await sql.run(`DELETE FROM link_sessions WHERE ${ofKey}`, [ownerId, id]);
    },
    async count(ownerId, clientId, most, sinceMs) {
      const counted = async (text: string, parameters: readonly Parameter[]) =>
        Number((await sql.all<{ count: number }>(`SELECT COUNT(*) AS count FROM ${text}`, parameters))[0]!.count);
      // Two counts, each from an index: a condition on the time would read the rows of the last day.
      const kept = await counted(
        `${indexedBy("link_sessions_undiscarded")}
         WHERE ${isUndiscarded} AND owner_id = $1 AND client_id = $2 AND expires_ms < $3`,
        [ownerId, clientId, sinceMs],
      );
      const all = await counted(
        "(SELECT 1 FROM link_sessions WHERE owner_id = $1 AND client_id = $2 LIMIT $3) AS counted",
        [ownerId, clientId, most + kept],
      );
      return all - kept;
    },
    async signOut(userId) {
      await sql.run("UPDATE link_sessions SET is_signed_in = 0 WHERE owner_id = $1 AND user_id = $1", [userId]);
      await sql.run(
        `UPDATE link_sessions SET is_signed_in = 0 WHERE user_id = $1
           AND owner_id = (SELECT -u.tenant_id FROM users u WHERE u.id = $1)`,
        [userId],
      );
    },
    removeOfUser: async (userId) =>
      (await sql.run("DELETE FROM link_sessions WHERE owner_id = $1", [userId])) +
      (await sql.run(
        `DELETE FROM link_sessions WHERE user_id = $1
           AND owner_id = (SELECT -u.tenant_id FROM users u WHERE u.id = $1)`,
        [userId],
      )),
    unended: (atMs, limit, { expiresMs, ownerId, id } = beforeAll as LinkSessionPosition) =>
      rows(
        `expires_ms <= $1 AND (expires_ms, owner_id, id) > ($2, $3, $4) AND ${hasNoEnd}
         ORDER BY expires_ms, owner_id, id LIMIT $5`,
        [atMs, expiresMs, ownerId, id, limit],
        indexedBy("link_sessions_unended"),
      ),
    undiscardedOwners: async (claimedAfterMs, limit, after = beforeAllOwners as OwnerId) =>
      (
        await sql.all<{ ownerId: OwnerId }>(
          `SELECT owner_id AS "ownerId" FROM ${indexedBy("link_sessions_undiscarded")}
           WHERE ${isUndiscarded} AND owner_id > $1 GROUP BY owner_id HAVING MAX(COALESCE(claimed_ms, 0)) <= $2
           ORDER BY owner_id LIMIT $3`,
          [after, claimedAfterMs, limit],
        )
      ).map(({ ownerId }) => ownerId),
    undiscarded: (ownerId, afterId, limit) =>
      sql.all<UndiscardedSession>(
        `SELECT owner_id AS "ownerId", id, ecosystem, sealed FROM ${indexedBy("link_sessions_undiscarded")}
         WHERE ${isUndiscarded} AND owner_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
        [ownerId, afterId, limit],
      ),
    async releaseClaims() {
      await sql.run("UPDATE link_sessions SET claimed_ms = NULL WHERE claimed_ms IS NOT NULL");
    },
    removeExpired: (beforeMs, limit) =>
      sql.run(
        `DELETE FROM link_sessions WHERE (owner_id, id) IN (
           SELECT owner_id, id FROM link_sessions WHERE expires_ms < $1 AND NOT (${hasNoEnd}) AND NOT (${isUndiscarded})
             ORDER BY expires_ms LIMIT $2)`,
        [beforeMs, limit],
      ),
    removeUndiscarded: (beforeMs, limit) =>
      sql.run(
        `DELETE FROM link_sessions WHERE (owner_id, id) IN (
           SELECT owner_id, id FROM ${indexedBy("link_sessions_undiscarded")}
             WHERE ${isUndiscarded} AND expires_ms < $1 LIMIT $2)`,
        [beforeMs, limit],
      ),
  };
}
