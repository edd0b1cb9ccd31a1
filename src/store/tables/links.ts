import type { DeviceId, NodeId, TenantId, UserId } from "../../model/ids.ts";
import { first, type Parameter, type Sql } from "../sql.ts";
import type { DeviceRow } from "./devices.ts";
import { checksumColumns, type LinkChecksum } from "./link-checksum.ts";
import { soundingSql } from "./things.ts";

/** A platform user's link to an account in an ecosystem; its virtual device has the same id. */
export interface LinkRow {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  readonly ecosystem: string;
  /** The ecosystem's access token, sealed (store/keys/sealing.ts). */
  readonly sealedToken: string;
  /**
   * The credential as JSON, sealed; null when the link has only a token. It is valid only together with `sealedToken`: a
   * node of an earlier version replaces the token alone (federation/credential.ts).
   */
  readonly sealedCredential: string | null;
  /** When a node began to renew the credential, by the store's clock; null when no renewal is in progress. */
  readonly renewingMs: number | null;
  readonly state: LinkState;
  /** Why the link is in this state, for its status; never a secret. */
  readonly reason: string;
  readonly owner: NodeId | null;
  readonly epoch: number;
  /** The blind interval that has not ended yet; null while the link is live. */
  readonly blindness: Blindness | null;
  /** When the ecosystem last confirmed the whole state of the account. */
  readonly confirmedMs: number;
  /** The index map, and notices about the account for its user, as virtual-device/ and federation/ encode them. */
  readonly indexMap: string;
  readonly notices: string;
}

export interface Blindness {
  readonly sinceMs: number;
  readonly cause: string;
}

/** `live`: its stream follows the account. `waiting`: between streams. `needs_reauth`: only a new token helps. */
export const linkStates = ["live", "waiting", "needs_reauth"] as const;

export type LinkState = (typeof linkStates)[number];

/** A new link; without `sealedCredential` it has only a token. */
export type NewLink = Omit<LinkRow, "epoch" | "sealedCredential" | "renewingMs"> &
  Partial<Pick<LinkRow, "sealedCredential">> & { readonly owner: NodeId };

/** The fencing token of a link's writer: a write with an old epoch is refused. */
export interface Ownership {
  readonly owner: NodeId;
  readonly epoch: number;
}

export type LinkStandingRow = Pick<LinkRow, "deviceId" | "state" | "owner" | "confirmedMs">;

export interface LinkTally extends Pick<LinkRow, "state" | "owner" | "ecosystem"> {
  readonly tenantId: TenantId;
  readonly count: number;
  readonly staleCount: number;
  /** The latest of their confirmation times. */
  readonly confirmedMs: number;
}

/** A link with its user, without tokens and the index map. */
export interface ListedLinkRow
  extends Pick<LinkRow, "userId" | "deviceId" | "ecosystem" | "state" | "reason" | "owner"> {
  readonly confirmedMs: number;
  readonly blindSinceMs: number | null;
  readonly blindCause: string | null;
  readonly userName: string;
  readonly tenantId: TenantId;
  /** The names of its homes; null without one. */
  readonly homeName: string | null;
}

export interface ListedLinkFilter {
  /** The numbers of the virtual device's attributes that hold the names of homes. */
  readonly nameAttributes?: readonly number[];
  /** Undefined: of all tenants. */
  readonly tenantIds?: readonly TenantId[] | undefined;
  readonly after?: Pick<LinkRow, "userId" | "ecosystem"> | undefined;
  /** Only links of homes in which an alarm may sound. */
  readonly isSounding?: boolean | undefined;
  readonly limit: number;
}

/** What links are found by, as one text with a line for each link: a row for each would cost most of the time. */
export interface JoinedSearchText {
  readonly words: string;
  /** The last link; undefined when there are fewer links than the limit, so that no more follow. */
  readonly last: Pick<LinkRow, "userId" | "ecosystem"> | undefined;
}

export interface ListedDevices extends Pick<JoinedSearchText, "last"> {
  readonly deviceIds: readonly DeviceId[];
}

/** What a link is found by: the names of its homes and its user, its ecosystem, and the ids of the user and the device. */
export function linkSearchText({
  homeName,
  userName,
  ecosystem,
  userId,
  deviceId,
}: Pick<ListedLinkRow, "homeName" | "userName" | "ecosystem" | "userId" | "deviceId">): string {
  return `${homeName ?? ""} ${userName} ${ecosystem} ${userId} ${deviceId}`;
}

export interface LinkTable {
  /** Undefined when this user is linked to that ecosystem already. */
  add(link: NewLink): Promise<Ownership | undefined>;
  find(userId: UserId, ecosystem: string): Promise<LinkRow | undefined>;
  ofDevice(userId: UserId, deviceId: DeviceId): Promise<LinkRow | undefined>;
  ofUser(userId: UserId): Promise<LinkRow[]>;
  /** The states of the links of these devices, for lists of devices. */
  standings(devices: readonly Pick<DeviceRow, "userId" | "id">[]): Promise<LinkStandingRow[]>;
  /** Whether the ownership is still valid. If so, a shared lock keeps it valid until the transaction ends. */
  holds(userId: UserId, deviceId: DeviceId, ownership: Ownership): Promise<boolean>;
  /** Replaces the token, and with it the credential; a renewal in progress can no longer store its result. */
  setToken(userId: UserId, deviceId: DeviceId, sealedToken: string, sealedCredential?: string | null): Promise<void>;
  /** Records that a renewal of the credential begins; null: that the ecosystem refused it. */
  setRenewing(userId: UserId, deviceId: DeviceId, renewingMs: number | null): Promise<void>;
  /** Removes a credential that can't be opened. The token stays, and a renewal in progress can store its result. */
  removeCredential(userId: UserId, deviceId: DeviceId): Promise<void>;
  setState(
    userId: UserId,
    deviceId: DeviceId,
    standing: Pick<LinkRow, "state" | "reason" | "blindness">,
  ): Promise<void>;
  setIndexMap(userId: UserId, deviceId: DeviceId, indexMap: string, notices: string): Promise<void>;
  /** Writes confirmation times in bulk. Links that this node no longer owns are skipped. */
  confirm(
    owner: NodeId,
    times: readonly { readonly deviceId: DeviceId; readonly epoch: number; readonly confirmedMs: number }[],
  ): Promise<void>;
  /** Claims links without an owner, and links of dead nodes. Each gets its next epoch. A link in state `live` becomes `waiting`. */
  claimOrphans(owner: NodeId, dead: readonly NodeId[], limit: number): Promise<LinkRow[]>;
  /** Takes one link from its present owner, with the next epoch. A link in state `live` becomes `waiting`. */
  takeOver(userId: UserId, deviceId: DeviceId, owner: NodeId): Promise<LinkRow | undefined>;
  ownedBy(owner: NodeId): Promise<LinkRow[]>;
  /** The epochs of all links of a node. */
  epochsOf(owner: NodeId): Promise<{ readonly deviceId: DeviceId; readonly epoch: number }[]>;
  /** The checksum of `epochsOf`, which takes one row. */
  checksumOf(owner: NodeId): Promise<LinkChecksum>;
  /** All distinct owners; null is among them if a link has no owner. A skip scan: one index look-up for each owner. */
  owners(): Promise<(NodeId | null)[]>;
  /** How many links each owner has. */
  countsByOwner(): Promise<{ readonly owner: NodeId | null; readonly count: number }[]>;
  /** Removes the owner from all links of a node. */
  releaseAll(owner: NodeId): Promise<void>;
  /** Removes the owner from these links, if they are still in the given epoch. */
  releaseSome(owner: NodeId, links: readonly { readonly deviceId: DeviceId; readonly epoch: number }[]): Promise<void>;
  /** Returns whether the link existed. */
  remove(userId: UserId, deviceId: DeviceId): Promise<boolean>;
  /** Links of these tenants, or of all, in the order of users and ecosystems, after the given one. */
  listed(filter: ListedLinkFilter): Promise<ListedLinkRow[]>;
  /** The words of the links that `listed` returns; without their ids, which take most of the time, if `hasIds` is false. */
  joinedSearchText(filter: ListedLinkFilter, hasIds?: boolean): Promise<JoinedSearchText>;
  /** The devices of the links that `listed` returns. */
  listedDevices(filter: ListedLinkFilter): Promise<ListedDevices>;
  /**
   * Counts links by tenant, state, owner and ecosystem: all, or those that this node does not own. A link is stale when it
   * was last confirmed before `staleBeforeMs`.
   */
  tally(staleBeforeMs: number, exceptOwner?: NodeId): Promise<LinkTally[]>;
}

const columns = `user_id AS "userId", device_id AS "deviceId", ecosystem, sealed_token AS "sealedToken",
  sealed_credential AS "sealedCredential", renewing_ms AS "renewingMs", state, reason, owner, epoch, blind_since_ms AS "blindSinceMs", blind_cause AS "blindCause", confirmed_ms AS "confirmedMs",
  index_map AS "indexMap", notices`;

/** The standing of a link that was live and whose new owner has no stream yet. */
export const takeoverStanding = { reason: "starting", cause: "not followed by any node" };

/** No link is live in a new epoch before its new owner has a stream. */
const nextEpoch = `epoch = epoch + 1, state = CASE WHEN state = 'live' THEN 'waiting' ELSE state END,
  reason = CASE WHEN state = 'live' THEN '${takeoverStanding.reason}' ELSE reason END,
  blind_since_ms = CASE WHEN state = 'live' THEN COALESCE(blind_since_ms, confirmed_ms) ELSE blind_since_ms END,
  blind_cause = CASE WHEN state = 'live' THEN COALESCE(blind_cause, '${takeoverStanding.cause}') ELSE blind_cause END`;

interface StoredLink extends Omit<LinkRow, "blindness"> {
  readonly blindSinceMs: number | null;
  readonly blindCause: string | null;
}

function fromStored({ blindSinceMs, blindCause, ...link }: StoredLink): LinkRow {
  const blindness = blindSinceMs === null ? null : { sinceMs: blindSinceMs, cause: blindCause ?? "" };
  return { ...link, blindness };
}

/** Some links with their users, in order. */
function listedFrom({ tenantIds, after, isSounding, limit }: ListedLinkFilter) {
  const parameters: Parameter[] = [after?.userId ?? 0, after?.ecosystem ?? "", limit];
  const among = tenantIds?.map((tenantId) => `$${parameters.push(tenantId)}`);
  // The plus keeps SQLite from the index of tenants: it would read and sort all links of the tenant for each page.
  const ofTenants = among === undefined ? "" : `AND +u.tenant_id IN (${among.join(", ") || "NULL"})`;
  const sounding = isSounding
    ? `AND (l.user_id, l.device_id) IN (SELECT t.user_id, t.device_id FROM things t WHERE ${soundingSql("t")})`
    : "";
  const from = `FROM links l JOIN users u ON u.id = l.user_id
    WHERE (l.user_id, l.ecosystem) > ($1, $2) ${ofTenants} ${sounding}
    ORDER BY l.user_id, l.ecosystem LIMIT $3`;
  return { from, parameters };
}

export function linkTable(sql: Sql): LinkTable {
  const isPostgres = sql.dialect === "postgres";
  /** A few rows of the primary key of attributes for each link. */
  const homeName = ({ nameAttributes = [] }: ListedLinkFilter) =>
    `(SELECT ${isPostgres ? "string_agg" : "group_concat"}(a.value, ', ' ORDER BY a.number) FROM attributes a
       WHERE a.user_id = l.user_id AND a.device_id = l.device_id AND a.number IN (${nameAttributes.join(", ") || "NULL"})
         AND a.name = '' AND a.value <> '')`;
  const rows = async (text: string, parameters: readonly Parameter[]) =>
    (await sql.all<StoredLink>(text, parameters)).map(fromStored);
  const where = (tail: string, parameters: readonly Parameter[]) =>
    rows(`SELECT ${columns} FROM links WHERE ${tail}`, parameters);
  /** A text of each link that `listed` returns, in lines: one row costs less than hundreds. Null when it returns none. */
  const joined = async (text: string, filter: ListedLinkFilter) => {
    const { from, parameters } = listedFrom(filter);
    const lines = isPostgres ? "string_agg(line, E'\\n')" : "group_concat(line, char(10))";
    const lastOne = listedFrom({ ...filter, limit: 1 });
    const [found, last] = await Promise.all([
      first(
        sql.all<{ lines: string | null }>(
          `SELECT ${lines} AS lines FROM (SELECT ${text} AS line ${from}) page`,
          parameters,
        ),
      ),
      first(
        sql.all<Pick<LinkRow, "userId" | "ecosystem">>(
          `SELECT l.user_id AS "userId", l.ecosystem ${lastOne.from} OFFSET ${filter.limit - 1}`,
          lastOne.parameters,
        ),
      ),
    ]);
    return { lines: found?.lines ?? null, last };
  };
  return {
    async add(link) {
      const added = await sql.run(
        `INSERT INTO links (user_id, device_id, ecosystem, sealed_token, state, reason, owner, epoch, confirmed_ms,
           index_map, notices, blind_since_ms, blind_cause, sealed_credential)
         VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $9, $10, $11, $12, $13) ON CONFLICT (user_id, ecosystem) DO NOTHING`,
        [
          link.userId,
          link.deviceId,
          link.ecosystem,
          link.sealedToken,
          link.state,
          link.reason,
          link.owner,
          link.confirmedMs,
          link.indexMap,
          link.notices,
          link.blindness?.sinceMs ?? null,
          link.blindness?.cause ?? null,
          link.sealedCredential ?? null,
        ],
      );
      return added > 0 ? { owner: link.owner, epoch: 1 } : undefined;
    },
    find: (userId, ecosystem) => first(where("user_id = $1 AND ecosystem = $2", [userId, ecosystem])),
    ofDevice: (userId, deviceId) => first(where("user_id = $1 AND device_id = $2", [userId, deviceId])),
    ofUser: (userId) => where("user_id = $1 ORDER BY device_id", [userId]),
    standings(devices) {
      const select = `SELECT l.device_id AS "deviceId", l.state, l.owner, l.confirmed_ms AS "confirmedMs" FROM links l`;
      const ids = devices.map(({ id }) => id);
      if (!isPostgres) return sql.all(`${select} WHERE l.device_id IN (SELECT value FROM json_each($1))`, [ids]);
      const pairs = "unnest($1::int[], $2::int[]) AS asked (user_id, device_id)";
      return sql.all(`${select} JOIN ${pairs} ON l.user_id = asked.user_id AND l.device_id = asked.device_id`, [
        devices.map(({ userId }) => userId),
        ids,
      ]);
    },
    async holds(userId, deviceId, { owner, epoch }) {
      const found = await sql.all(
        `SELECT device_id FROM links WHERE user_id = $1 AND device_id = $2 AND owner = $3 AND epoch = $4
         ${isPostgres ? "FOR SHARE" : ""}`,
        [userId, deviceId, owner, epoch],
      );
      return found.length > 0;
    },
    async setToken(userId, deviceId, sealedToken, sealedCredential = null) {
      await sql.run(
        `UPDATE links SET sealed_token = $3, sealed_credential = $4, renewing_ms = NULL
         WHERE user_id = $1 AND device_id = $2`,
        [userId, deviceId, sealedToken, sealedCredential],
      );
    },
    async setRenewing(userId, deviceId, renewingMs) {
      await sql.run("UPDATE links SET renewing_ms = $3 WHERE user_id = $1 AND device_id = $2", [
        userId,
        deviceId,
        renewingMs,
      ]);
    },
    async removeCredential(userId, deviceId) {
      await sql.run("UPDATE links SET sealed_credential = NULL WHERE user_id = $1 AND device_id = $2", [
        userId,
        deviceId,
      ]);
    },
    async setState(userId, deviceId, { state, reason, blindness }) {
      await sql.post(
        `UPDATE links SET state = $3, reason = $4, blind_since_ms = $5, blind_cause = $6
         WHERE user_id = $1 AND device_id = $2`,
        [userId, deviceId, state, reason, blindness?.sinceMs ?? null, blindness?.cause ?? null],
      );
    },
    async setIndexMap(userId, deviceId, indexMap, notices) {
      await sql.post("UPDATE links SET index_map = $3, notices = $4 WHERE user_id = $1 AND device_id = $2", [
        userId,
        deviceId,
        indexMap,
        notices,
      ]);
    },
    async confirm(owner, times) {
      const update = (from: string) => `UPDATE links SET confirmed_ms = ${from}`;
      if (isPostgres) {
        await sql.post(
          `${update("seen.confirmed_ms")} FROM unnest($2::int[], $3::int[], $4::bigint[])
             AS seen (device_id, epoch, confirmed_ms)
           WHERE links.device_id = seen.device_id AND links.owner = $1 AND links.epoch = seen.epoch`,
          [owner, times.map((t) => t.deviceId), times.map((t) => t.epoch), times.map((t) => t.confirmedMs)],
        );
      } else {
        await sql.runEach(
          `${update("$4")} WHERE device_id = $2 AND owner = $1 AND epoch = $3`,
          times.map((t) => [owner, t.deviceId, t.epoch, t.confirmedMs]),
        );
      }
    },
    async claimOrphans(owner, dead, limit) {
      const claimed = await (isPostgres
        ? rows(
            `UPDATE links SET owner = $1, ${nextEpoch}
             WHERE (user_id, device_id) IN (
               SELECT user_id, device_id FROM links WHERE owner IS NULL OR owner = ANY($2::text[])
               ORDER BY device_id LIMIT $3 FOR UPDATE SKIP LOCKED)
             RETURNING ${columns}`,
            [owner, dead, limit],
          )
        : rows(
            `UPDATE links SET owner = $1, ${nextEpoch}
             WHERE device_id IN (
               SELECT device_id FROM links WHERE owner IS NULL OR owner IN (SELECT value FROM json_each($2))
               ORDER BY device_id LIMIT $3)
             RETURNING ${columns}`,
            [owner, dead, limit],
          ));
      // A live node that was wrongly declared dead must notice it soon.
      if (claimed.length > 0) sql.hint("links");
      return claimed;
    },
    async takeOver(userId, deviceId, owner) {
      sql.hint("links");
      return first(
        rows(`UPDATE links SET owner = $3, ${nextEpoch} WHERE user_id = $1 AND device_id = $2 RETURNING ${columns}`, [
          userId,
          deviceId,
          owner,
        ]),
      );
    },
    ownedBy: (owner) => where("owner = $1 ORDER BY device_id", [owner]),
    epochsOf: (owner) => sql.all(`SELECT device_id AS "deviceId", epoch FROM links WHERE owner = $1`, [owner]),
    async checksumOf(owner) {
      const [checksum] = await sql.all<LinkChecksum>(`SELECT ${checksumColumns} FROM links WHERE owner = $1`, [owner]);
      return { ...checksum! };
    },
    async owners() {
      const found = await sql.all<{ owner: NodeId | null }>(
        `WITH RECURSIVE found (owner) AS (
           SELECT MIN(owner) FROM links
           UNION ALL SELECT (SELECT MIN(owner) FROM links WHERE owner > found.owner) FROM found
           WHERE found.owner IS NOT NULL)
         SELECT owner FROM found WHERE owner IS NOT NULL
         UNION ALL SELECT NULL WHERE EXISTS (SELECT 1 FROM links WHERE owner IS NULL)`,
      );
      return found.map(({ owner }) => owner);
    },
    countsByOwner: () => sql.all("SELECT owner, COUNT(*) AS count FROM links GROUP BY owner ORDER BY owner"),
    async releaseAll(owner) {
      if ((await sql.run("UPDATE links SET owner = NULL WHERE owner = $1", [owner])) > 0) sql.hint("links");
    },
    async releaseSome(owner, links) {
      sql.hint("links");
      if (isPostgres) {
        await sql.run(
          `UPDATE links SET owner = NULL FROM unnest($2::int[], $3::int[]) AS given (device_id, epoch)
           WHERE links.device_id = given.device_id AND links.owner = $1 AND links.epoch = given.epoch`,
          [owner, links.map((link) => link.deviceId), links.map((link) => link.epoch)],
        );
      } else {
        await sql.runEach(
          "UPDATE links SET owner = NULL WHERE device_id = $2 AND owner = $1 AND epoch = $3",
          links.map((link) => [owner, link.deviceId, link.epoch]),
        );
      }
    },
    async remove(userId, deviceId) {
      sql.hint("links");
      return (await sql.run("DELETE FROM links WHERE user_id = $1 AND device_id = $2", [userId, deviceId])) > 0;
    },
    listed(filter) {
      const { from, parameters } = listedFrom(filter);
      return sql.all<ListedLinkRow>(
        `SELECT l.user_id AS "userId", l.device_id AS "deviceId", l.ecosystem, l.state, l.reason, l.owner,
           l.confirmed_ms AS "confirmedMs", l.blind_since_ms AS "blindSinceMs", l.blind_cause AS "blindCause",
           u.name AS "userName", u.tenant_id AS "tenantId", ${homeName(filter)} AS "homeName" ${from}`,
        parameters,
      );
    },
    async joinedSearchText(filter, hasIds = true) {
      const ids = hasIds ? "|| ' ' || l.user_id || ' ' || l.device_id" : "";
      const text = `COALESCE(${homeName(filter)}, '') || ' ' || u.name || ' ' || l.ecosystem ${ids}`;
      const { lines, last } = await joined(text, filter);
      return { words: lines ?? "", last };
    },
    async listedDevices(filter) {
      const { lines, last } = await joined("CAST(l.device_id AS TEXT)", filter);
      return { deviceIds: lines === null ? [] : lines.split("\n").map((line) => Number(line) as DeviceId), last };
    },
    tally(staleBeforeMs, exceptOwner) {
      // Three ranges of the index of owners, so that the links of this node are not even read.
      const ofOthers = "WHERE (l.owner IS NULL OR l.owner < $2 OR l.owner > $2)";
      return sql.all(
        `SELECT u.tenant_id AS "tenantId", l.state, l.owner, l.ecosystem, COUNT(*) AS count,
           COUNT(CASE WHEN l.confirmed_ms < $1 THEN 1 END) AS "staleCount", MAX(l.confirmed_ms) AS "confirmedMs"
         FROM links l JOIN users u ON u.id = l.user_id ${exceptOwner === undefined ? "" : ofOthers}
         GROUP BY u.tenant_id, l.state, l.owner, l.ecosystem ORDER BY u.tenant_id, l.state, l.owner, l.ecosystem`,
        exceptOwner === undefined ? [staleBeforeMs] : [staleBeforeMs, exceptOwner],
      );
    },
  };
}
