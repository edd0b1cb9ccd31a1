import { type AccessScope, ownerWithin } from "../../model/access-scope.ts";
import { type DeviceId, type OwnerId, ownerIdOf, type TenantId, type UserId } from "../../model/ids.ts";
import type { SuspendedParty } from "../../model/suspension.ts";
import { first, isStorable, type Parameter, type Sql } from "../sql.ts";
import { isGrantBetween, suspendedParty } from "./grants.ts";
import type { LogPosition } from "./log-position.ts";

export interface WebhookKey {
  readonly ownerId: OwnerId;
  readonly id: string;
}

/** An address to which a client's events are delivered. */
export interface WebhookRow extends WebhookKey {
  readonly tenantId: TenantId;
  /** Null when the webhook receives events of the whole tenant. */
  readonly userId: UserId | null;
  readonly clientId: string;
  /** The address in clear; empty when it is sealed. */
  readonly url: string;
  /** The sealed address; null until it is sealed (events/webhooks/address-sealing.ts). */
  readonly sealedUrl: string | null;
  readonly sealedSecret: string;
  readonly deviceIds: readonly DeviceId[];
  readonly attributes: readonly string[];
  /** False when its filter can't be read. Then both lists are empty, and it gets no messages. */
  readonly isReadable: boolean;
  /** Whether it receives firings of alerts: its client had the scope `alerts`. */
  readonly hearsAlerts: boolean;
  /** Whether it receives messages about things. */
  readonly hearsThings: boolean;
  /** Whether it receives the ends of link sessions; its client had the scope `links`. */
  readonly hearsLinkSessions: boolean;
  /** It receives entries of the log after this position. */
  readonly from: LogPosition;
  readonly createdMs: number;
  /** Since when an operator has paused it; null: not at all. */
  readonly pausedMs: number | null;
  /** Its suspended user or client; null: neither. Then, and while it is paused, its messages wait. */
  readonly suspended: SuspendedParty | null;
}

export type NewWebhookRow = Omit<
  WebhookRow,
  "ownerId" | "createdMs" | "isReadable" | "pausedMs" | "suspended" | Heard
> &
  Partial<Pick<WebhookRow, Heard>>;
type Heard = "hearsAlerts" | "hearsThings" | "hearsLinkSessions";

/** The owner of webhooks: one client, for one user or for its tenant. */
export type WebhookOwner = AccessScope & { readonly clientId: string };

/**
 * Webhooks. A webhook is alive only while its client exists and has a grant of the user, or acts for its tenant. Queries
 * return only live webhooks, so a revoked grant takes effect at once.
 */
export interface WebhookTable {
  /** `hearsAlerts` is true by default, the others are false. */
  add(webhook: NewWebhookRow): Promise<WebhookKey>;
  ofOwner(owner: WebhookOwner): Promise<WebhookRow[]>;
  find(owner: WebhookOwner, id: string): Promise<WebhookRow | undefined>;
  byKey(key: WebhookKey): Promise<WebhookRow | undefined>;
  /** Webhooks of these tenants, or of all, in the order of their ids. */
  listed(filter: ListedWebhookFilter): Promise<WebhookRow[]>;
  setSecret(webhook: WebhookKey, sealedSecret: string): Promise<void>;
  setPaused(webhook: WebhookKey, sinceMs: number | null): Promise<void>;
  /** Webhooks that receive events of one of these users. */
  hearing(userIds: readonly UserId[]): Promise<WebhookRow[]>;
  isAny(): Promise<boolean>;
  /** Whether any webhook receives messages about things. */
  doAnyHearThings(): Promise<boolean>;
  /** Some webhooks whose addresses aren't sealed. */
  plainAddresses(limit: number): Promise<(WebhookKey & { readonly url: string })[]>;
  /** Replaces the plain address by the sealed one. */
  sealAddress(webhook: WebhookKey, sealedUrl: string): Promise<void>;
  /** Locks the webhook until the transaction ends, so that its deliveries keep their order. */
  lock(key: WebhookKey): Promise<void>;
  /** Locks these webhooks, the oldest first, as every transaction that locks several. */
  lockAll(keys: readonly WebhookKey[]): Promise<void>;
  /** The caller holds the feed's lock. */
  remove(key: WebhookKey): Promise<void>;
  /** Removes the user's webhooks; returns how many. `log.removeOfUser` removes the deliveries. */
  removeOfUser(userId: UserId): Promise<number>;
  /** Removes webhooks that are no longer alive, with their deliveries; returns how many. */
  removeDead(): Promise<number>;
  /**
   * Reads the feed's position and locks it until the transaction ends. A transaction that removes deliveries must hold
   * this lock: a delivery that is created at the same time could otherwise wait for ever for a removed one.
   */
  lockFeed(): Promise<FeedPosition>;
  setFeed(position: FeedPosition): Promise<void>;
}

export interface ListedWebhookFilter {
  /** Undefined: of all tenants. */
  readonly tenantIds?: readonly TenantId[] | undefined;
  readonly clientId?: string | undefined;
  /** Only this webhook. */
  readonly id?: string | undefined;
  /** Only those that an operator has paused, or whose messages fail: the last one failed, or one was tried three times. */
  readonly only?: "paused" | "failing" | undefined;
  readonly afterId: string;
  readonly limit: number;
}

/** The position up to which entries of the log were turned into deliveries. */
export interface FeedPosition extends LogPosition {
  /**
   * The position of messages about things. It is behind the other one when a node of a version without things has fed the
   * webhooks.
   */
  readonly things: LogPosition;
  /** The epoch of the log that webhooks have seen; empty when they got no message since epochs exist. */
  readonly epoch: string;
}

const columns = `w.owner_id AS "ownerId", w.id, w.tenant_id AS "tenantId",
  CASE WHEN w.owner_id > 0 THEN w.owner_id END AS "userId", w.client_id AS "clientId", w.url,
  w.sealed_url AS "sealedUrl", w.sealed_secret AS "sealedSecret", w.device_ids AS "deviceIds", w.attributes,
  w.hears_alerts AS "hearsAlerts", w.hears_things AS "hearsThings",
  w.hears_link_sessions AS "hearsLinkSessions", w.from_transaction AS "fromTransaction",
  w.from_entry AS "fromEntry", w.created_ms AS "createdMs", w.paused_ms AS "pausedMs", ${suspendedParty("w")} AS suspended`;
/** Whether the scope of a grant covers all events of the webhook. */
const coversWebhook = `g.scope IS NULL OR (g.scope LIKE '%webhooks%' AND g.scope LIKE '%devices:read%'
  AND (w.hears_alerts = 0 OR g.scope LIKE '%alerts%')
  AND (w.hears_link_sessions = 0 OR g.scope LIKE '%links%'))`;
const isAlive = `EXISTS (SELECT 1 FROM clients c WHERE c.id = w.client_id) AND (w.owner_id < 0 OR EXISTS (SELECT 1
  FROM grants g WHERE ${isGrantBetween("w.owner_id", "w.client_id")} AND g.reach = 'user' AND (${coversWebhook})))`;
const isFailing = `w.paused_ms IS NULL AND (
  EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.owner_id = w.owner_id
    AND d.state = 'waiting' AND d.next_ms IS NOT NULL AND d.attempts > 2)
  OR (SELECT d.state FROM webhook_deliveries d WHERE d.owner_id = w.owner_id AND d.webhook_id = w.id
    AND d.state <> 'waiting' ORDER BY d.id DESC LIMIT 1) = 'failed')`;
const ofOwner = "w.owner_id = $1 AND w.client_id = $2";

type StoredWebhook = Omit<WebhookRow, "deviceIds" | "attributes" | "isReadable" | Heard | "from"> & {
  readonly deviceIds: string;
  readonly attributes: string;
  readonly hearsAlerts: number;
  readonly hearsThings: number;
  readonly hearsLinkSessions: number;
  readonly fromTransaction: number;
  readonly fromEntry: number;
};

type StoredFeed = Omit<FeedPosition, "things"> & { readonly thingTransaction: number; readonly thingEntry: number };

export function webhookTable(sql: Sql): WebhookTable {
  const rows = async (where: string, parameters: readonly Parameter[]) =>
    (
      await sql.all<StoredWebhook>(
        `SELECT ${columns} FROM webhooks w WHERE ${isAlive} AND ${where} ORDER BY w.created_ms, w.id`,
        parameters,
      )
    ).map(fromStored);
  const among = sql.dialect === "postgres" ? "= ANY($1::int[])" : "IN (SELECT value FROM json_each($1))";
  const forUpdate = sql.dialect === "postgres" ? " FOR UPDATE" : "";
  const lockFeed = async () => {
    const [row] = await sql.all<StoredFeed>(
      `SELECT transaction_id AS "transaction", entry_id AS id, epoch, thing_transaction_id AS "thingTransaction",
         thing_entry_id AS "thingEntry" FROM webhook_feed${forUpdate}`,
    );
    const { thingTransaction, thingEntry, ...position } = row!;
    return { ...position, things: { transaction: thingTransaction, id: thingEntry } };
  };
  const remove = async ({ ownerId, id }: WebhookKey) => {
    await sql.run("DELETE FROM webhook_deliveries WHERE owner_id = $1 AND webhook_id = $2", [ownerId, id]);
    await sql.run("DELETE FROM webhooks WHERE owner_id = $1 AND id = $2", [ownerId, id]);
  };
  return {
    async add({ id, tenantId, userId, clientId, url, sealedUrl, sealedSecret, ...filter }) {
      const {
        deviceIds,
        attributes,
        hearsAlerts = true,
        hearsThings = false,
        hearsLinkSessions = false,
        from,
      } = filter;
      const ownerId = ownerIdOf({ userId, tenantId });
      await sql.run(
        `INSERT INTO webhooks (owner_id, id, tenant_id, client_id, url, sealed_url, sealed_secret, device_ids, attributes,
           hears_alerts, hears_things, hears_link_sessions, from_transaction, from_entry, created_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
        [
          ownerId,
          id,
          tenantId,
          clientId,
          url,
          sealedUrl,
          sealedSecret,
          JSON.stringify(deviceIds),
          JSON.stringify(attributes),
          hearsAlerts ? 1 : 0,
          hearsThings ? 1 : 0,
          hearsLinkSessions ? 1 : 0,
          from.transaction,
          from.id,
          await sql.nowMs(),
        ],
      );
      return { ownerId, id };
    },
    ofOwner: (owner) => rows(ofOwner, [ownerWithin(owner), owner.clientId]),
    find: async (owner, id) =>
      isStorable(id) ? first(rows(`${ofOwner} AND w.id = $3`, [ownerWithin(owner), owner.clientId, id])) : undefined,
    byKey: ({ ownerId, id }) => first(rows("w.owner_id = $1 AND w.id = $2", [ownerId, id])),
    async listed({ tenantIds, clientId, id, only, afterId, limit }) {
      const parameters: Parameter[] = [id ?? afterId, limit];
      const parameter = (value: Parameter) => `$${parameters.push(value)}`;
      const conditions = [
        `w.id ${id === undefined ? ">" : "="} $1`,
        ...(tenantIds === undefined ? [] : [`w.tenant_id IN (${tenantIds.map(parameter).join(", ") || "NULL"})`]),
        ...(clientId === undefined ? [] : [`w.client_id = ${parameter(clientId)}`]),
        ...(only === undefined ? [] : [only === "paused" ? "w.paused_ms IS NOT NULL" : isFailing]),
      ];
      const select = `SELECT ${columns} FROM webhooks w WHERE ${isAlive} AND ${conditions.join(" AND ")}`;
      return (await sql.all<StoredWebhook>(`${select} ORDER BY w.id LIMIT $2`, parameters)).map(fromStored);
    },
    async setSecret({ ownerId, id }, sealedSecret) {
      await sql.run("UPDATE webhooks SET sealed_secret = $3 WHERE owner_id = $1 AND id = $2", [
        ownerId,
        id,
        sealedSecret,
      ]);
    },
    async setPaused({ ownerId, id }, sinceMs) {
      await sql.run("UPDATE webhooks SET paused_ms = $3 WHERE owner_id = $1 AND id = $2", [ownerId, id, sinceMs]);
    },
    hearing: (userIds) =>
      rows(`(w.owner_id ${among} OR w.owner_id IN (SELECT -u.tenant_id FROM users u WHERE u.id ${among}))`, [userIds]),
    isAny: async () => (await sql.all("SELECT 1 FROM webhooks LIMIT 1")).length > 0,
    doAnyHearThings: async () => (await sql.all("SELECT 1 FROM webhooks WHERE hears_things = 1 LIMIT 1")).length > 0,
    plainAddresses: (limit) =>
      sql.all(`SELECT owner_id AS "ownerId", id, url FROM webhooks WHERE sealed_url IS NULL LIMIT $1`, [limit]),
    async sealAddress({ ownerId, id }, sealedUrl) {
      await sql.run(
        "UPDATE webhooks SET sealed_url = $3, url = '' WHERE owner_id = $1 AND id = $2 AND sealed_url IS NULL",
        [ownerId, id, sealedUrl],
      );
    },
    async lock({ ownerId, id }) {
      await sql.all(`SELECT id FROM webhooks WHERE owner_id = $1 AND id = $2${forUpdate}`, [ownerId, id]);
    },
    async lockAll(keys) {
      if (sql.dialect === "sqlite" || keys.length === 0) return;
      await sql.all(
        `SELECT w.id FROM webhooks w WHERE (w.owner_id, w.id) IN
           (SELECT CAST(r.value->>0 AS INTEGER), r.value->>1 FROM json_array_elements($1::json) AS r)
         ORDER BY w.created_ms, w.id FOR UPDATE OF w`,
        [JSON.stringify(keys.map(({ ownerId, id }) => [ownerId, id]))],
      );
    },
    remove,
    async removeOfUser(userId) {
      await lockFeed();
      return sql.run("DELETE FROM webhooks WHERE owner_id = $1", [userId]);
    },
    async removeDead() {
      const dead = await sql.all<WebhookKey>(
        `SELECT w.owner_id AS "ownerId", w.id FROM webhooks w WHERE NOT (${isAlive})`,
      );
      if (dead.length > 0) await lockFeed();
      for (const key of dead) await remove(key);
      return dead.length;
    },
    lockFeed,
    async setFeed({ transaction, id, epoch, things }) {
      await sql.run(
        `UPDATE webhook_feed SET transaction_id = $1, entry_id = $2, epoch = $3, thing_transaction_id = $4,
           thing_entry_id = $5`,
        [transaction, id, epoch, things.transaction, things.id],
      );
    },
  };
}

/** One row that can't be read must not hide the others. */
function readFilter(
  deviceIds: string,
  attributes: string,
): Pick<WebhookRow, "deviceIds" | "attributes" | "isReadable"> {
  try {
    const [devices, names]: unknown[] = [JSON.parse(deviceIds), JSON.parse(attributes)];
    if (Array.isArray(devices) && Array.isArray(names))
      return { deviceIds: devices, attributes: names, isReadable: true };
  } catch {
    // Like a filter of another shape.
  }
  return { deviceIds: [], attributes: [], isReadable: false };
}

function fromStored({
  deviceIds,
  attributes,
  hearsAlerts,
  hearsThings,
  hearsLinkSessions,
  fromTransaction,
  fromEntry,
  ...row
}: StoredWebhook): WebhookRow {
  return {
    ...row,
    ...readFilter(deviceIds, attributes),
    hearsAlerts: hearsAlerts !== 0,
    hearsThings: hearsThings !== 0,
    hearsLinkSessions: hearsLinkSessions !== 0,
    from: { transaction: fromTransaction, id: fromEntry },
  };
}
