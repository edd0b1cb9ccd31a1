import type { UserId } from "../model/ids.ts";
import type { NodeBus } from "./node-bus.ts";
import type { Sql } from "./sql.ts";
import { type AccessTokenTable, accessTokenTable } from "./tables/access-tokens.ts";
import { type AssistantDeliveryTable, assistantDeliveryTable } from "./tables/assistant-deliveries.ts";
import { type AssistantGrantTable, assistantGrantTable } from "./tables/assistant-grants.ts";
import { type AssistantMarkTable, assistantMarkTable } from "./tables/assistant-marks.ts";
import { type AssistantOutletTable, assistantOutletTable } from "./tables/assistant-outlets.ts";
import { type AssistantReplyTable, assistantReplyTable } from "./tables/assistant-replies.ts";
import { type AttributeUsageTable, attributeUsageTable } from "./tables/attribute-usage.ts";
import { type AttributeTable, attributeTable } from "./tables/attributes.ts";
import { type AuditTable, auditTable } from "./tables/audit.ts";
import { type BatchGroupTable, batchGroupTable } from "./tables/batch-groups.ts";
import { type BlindIntervalTable, blindIntervalTable } from "./tables/blind-intervals.ts";
import { type ClientTable, clientTable } from "./tables/clients.ts";
import { type CodeTable, codeTable } from "./tables/codes.ts";
import { type DeviceTypeMapTable, deviceTypeMapTable } from "./tables/device-type-maps.ts";
import { type DeviceTypeWorkTable, deviceTypeWorkTable } from "./tables/device-type-work.ts";
import { type DeviceTable, deviceTable } from "./tables/devices.ts";
import { type FailureCountTable, failureCountTable } from "./tables/failure-counts.ts";
import { type FanRequestTable, fanRequestTable } from "./tables/fan-requests.ts";
import { type FeedAccountTable, feedAccountTable } from "./tables/feed-accounts.ts";
import { type FeedLeaseTable, feedLeaseTable } from "./tables/feed-leases.ts";
import { type FeedMessageTable, feedMessageTable } from "./tables/feed-messages.ts";
import { type GrantTable, grantTable } from "./tables/grants.ts";
import { type HomeNameTable, homeNameTable } from "./tables/home-names.ts";
import { type IdempotencyKeyTable, idempotencyKeyTable } from "./tables/idempotency-keys.ts";
import { type LinkHourTable, linkHourTable } from "./tables/link-hours.ts";
import { type LinkSessionTable, linkSessionTable } from "./tables/link-sessions.ts";
import { type LinkTable, linkTable } from "./tables/links.ts";
import { type LogTable, logTable } from "./tables/log.ts";
import { type LogEpochTable, logEpochTable } from "./tables/log-epoch.ts";
import { type MappedDeviceTable, mappedDeviceTable } from "./tables/mapped-devices.ts";
import { type NodeQuestionTable, nodeQuestionTable } from "./tables/node-questions.ts";
import { type NodeTable, nodeTable } from "./tables/nodes.ts";
import { type OperatorLinkTable, operatorLinkTable } from "./tables/operator-links.ts";
import { type OperatorSessionTable, operatorSessionTable } from "./tables/operator-sessions.ts";
import { type OperatorTokenTable, operatorTokenTable } from "./tables/operator-tokens.ts";
import { type OperatorTable, operatorTable } from "./tables/operators.ts";
import { type QuotaTable, quotaTable } from "./tables/quotas.ts";
import { type RecentLogTable, recentLogTable } from "./tables/recent-log.ts";
import { type RefreshTokenTable, refreshTokenTable } from "./tables/refresh-tokens.ts";
import { type SealedValueTable, sealedValueTable } from "./tables/sealed-values.ts";
import { type SecTokenTable, secTokenTable } from "./tables/sec-tokens.ts";
import { type SettingTable, settingTable } from "./tables/settings.ts";
import { type SignInTable, signInTable } from "./tables/sign-ins.ts";
import { type TenantTable, tenantTable } from "./tables/tenants.ts";
import { type ThingCommandTable, thingCommandTable } from "./tables/thing-commands.ts";
import { type ThingTriggerTable, thingTriggerTable } from "./tables/thing-triggers.ts";
import { type ThingTable, thingTable } from "./tables/things.ts";
import { type TriggerTable, triggerTable } from "./tables/triggers.ts";
import { type UserSessionTable, userSessionTable } from "./tables/user-sessions.ts";
import { type UserTable, userTable } from "./tables/users.ts";
import { type DeliveryTable, deliveryTable } from "./tables/webhook-deliveries.ts";
import { type WebhookTable, webhookTable } from "./tables/webhooks.ts";

/**
 * The interface between Breezeway and its database. The body of a transaction awaits only its own statements and has no
 * side effects: it may be retried, and on SQLite all other writers wait while it runs.
 */
export interface Store<Tables = Transaction> {
  /** True when other nodes may write too. Then cached values must be validated before use. */
  readonly isShared: boolean;
  /** Resolves when the transaction is durable. */
  transaction<Result>(body: (tx: Tables) => Promise<Result>, priority?: Priority): Promise<Result>;
  /** Reads one consistent snapshot. Never waits for writers. */
  read<Result>(body: (tx: Tables) => Promise<Result>, priority?: Pick<Priority, "soon">): Promise<Result>;
}

/** The priority of a transaction in the queue. */
export interface Priority {
  /**
   * Runs before all others. On SQLite it is committed at once, without waiting for a group to gather. On PostgreSQL, while
   * urgent transactions always wait, every fourth connection goes to one that is `soon`.
   */
  readonly urgent?: boolean;
  /** Aborts when the transaction becomes urgent while it waits. */
  readonly becomesUrgent?: AbortSignal;
  /** Runs before ordinary transactions, but in their commit groups: for a task that must keep up with all of them. */
  readonly soon?: boolean;
  /**
   * The one user whose rows the transaction reads and writes. On PostgreSQL, transactions of different users that wait at
   * the same time share one transaction (groups/group-queue.ts).
   */
  readonly groupedBy?: UserId | undefined;
  /** Background work. On PostgreSQL it has its own connections and may wait without limit. SQLite ignores it. */
  readonly background?: boolean;
}

/** An open store, which its owner closes. */
export interface OpenStore extends Store {
  readonly nodeBus: NodeBus;
  /** For `/readyz`. Rejects with the reason when the store can't be read or can't be written. */
  health(): Promise<StoreHealth>;
  /** The store's size on disk in bytes. */
  size(): Promise<number>;
  /** The use of the connection pools; empty on SQLite. */
  pools(): readonly PoolUse[];
  /** Only on SQLite: releases free pages of the file. */
  readonly space?: FileSpace | undefined;
  close(): Promise<void>;
}

/** The free pages of the SQLite file, and ways to return them to the file system. */
export interface FileSpace {
  measure(): Promise<SpaceUse>;
  /** Releases at most this number of free pages, in one short transaction (incremental vacuum). */
  releasePages(pages: number): Promise<void>;
  /** Rewrites the whole file without free pages (VACUUM). Writes wait until it is done; reads continue. */
  rebuild(): Promise<void>;
  /** Moves the write-ahead log into the file and truncates the log. Writes wait for a moment. */
  flush(): Promise<void>;
}

export interface SpaceUse {
  readonly bytes: number;
  readonly pageBytes: number;
  readonly freePages: number;
  /** Whether pages can be released in steps. Files of earlier versions must be rebuilt once. */
  readonly isIncremental: boolean;
}

/** The present use of one connection pool. */
export interface PoolUse {
  readonly pool: string;
  readonly inUse: number;
  readonly idle: number;
  /** How many connections the pool may open. */
  readonly most: number;
  /** Transactions that wait for a connection. */
  readonly waiting: number;
}

export interface StoreHealth {
  readonly kind: "sqlite" | "postgres";
  readonly waiting: number;
  /** How long the last commit took to become durable. */
  readonly lastSyncMs: number;
}

export interface Transaction {
  readonly tenants: TenantTable;
  readonly users: UserTable;
  readonly secTokens: SecTokenTable;
  readonly accessTokens: AccessTokenTable;
  readonly audit: AuditTable;
  readonly clients: ClientTable;
  readonly codes: CodeTable;
  readonly failureCounts: FailureCountTable;
  readonly grants: GrantTable;
  readonly refreshTokens: RefreshTokenTable;
  readonly signIns: SignInTable;
  readonly userSessions: UserSessionTable;
  readonly devices: DeviceTable;
  readonly deviceTypeMaps: DeviceTypeMapTable;
  readonly deviceTypeWork: DeviceTypeWorkTable;
  readonly mappedDevices: MappedDeviceTable;
  readonly fanRequests: FanRequestTable;
  readonly attributes: AttributeTable;
  readonly attributeUsage: AttributeUsageTable;
  readonly things: ThingTable;
  readonly homeNames: HomeNameTable;
  readonly thingCommands: ThingCommandTable;
  readonly triggers: TriggerTable;
  readonly thingTriggers: ThingTriggerTable;
  readonly idempotencyKeys: IdempotencyKeyTable;
  readonly batchGroups: BatchGroupTable;
  readonly links: LinkTable;
  readonly linkSessions: LinkSessionTable;
  readonly blindIntervals: BlindIntervalTable;
  readonly linkHours: LinkHourTable;
  readonly feedAccounts: FeedAccountTable;
  readonly feedMessages: FeedMessageTable;
  readonly feedLeases: FeedLeaseTable;
  readonly log: LogTable;
  readonly recentLog: RecentLogTable;
  readonly logEpoch: LogEpochTable;
  readonly nodes: NodeTable;
  readonly nodeQuestions: NodeQuestionTable;
  readonly quotas: QuotaTable;
  readonly sealedValues: SealedValueTable;
  readonly settings: SettingTable;
  readonly webhooks: WebhookTable;
  readonly deliveries: DeliveryTable;
  readonly assistantOutlets: AssistantOutletTable;
  readonly assistantGrants: AssistantGrantTable;
  readonly assistantMarks: AssistantMarkTable;
  readonly assistantReplies: AssistantReplyTable;
  readonly assistantDeliveries: AssistantDeliveryTable;
  readonly operators: OperatorTable;
  readonly operatorSessions: OperatorSessionTable;
  readonly operatorTokens: OperatorTokenTable;
  readonly operatorLinks: OperatorLinkTable;
  /** The store's clock. Nodes compare only times of this clock, never those of two machines. */
  readonly clock: { nowMs(): Promise<number> };
}

const tables: { readonly [Name in keyof Transaction]: (sql: Sql) => Transaction[Name] } = {
  tenants: tenantTable,
  users: userTable,
  secTokens: secTokenTable,
  accessTokens: accessTokenTable,
  audit: auditTable,
  clients: clientTable,
  codes: codeTable,
  failureCounts: failureCountTable,
  grants: grantTable,
  refreshTokens: refreshTokenTable,
  signIns: signInTable,
  userSessions: userSessionTable,
  devices: deviceTable,
  deviceTypeMaps: deviceTypeMapTable,
  deviceTypeWork: deviceTypeWorkTable,
  mappedDevices: mappedDeviceTable,
  fanRequests: fanRequestTable,
  attributes: attributeTable,
  attributeUsage: attributeUsageTable,
  things: thingTable,
  homeNames: homeNameTable,
  thingCommands: thingCommandTable,
  triggers: triggerTable,
  thingTriggers: thingTriggerTable,
  idempotencyKeys: idempotencyKeyTable,
  batchGroups: batchGroupTable,
  links: linkTable,
  linkSessions: linkSessionTable,
  blindIntervals: blindIntervalTable,
  linkHours: linkHourTable,
  feedAccounts: feedAccountTable,
  feedMessages: feedMessageTable,
  feedLeases: feedLeaseTable,
  log: logTable,
  recentLog: recentLogTable,
  logEpoch: logEpochTable,
  nodes: nodeTable,
  nodeQuestions: nodeQuestionTable,
  quotas: quotaTable,
  sealedValues: sealedValueTable,
  settings: settingTable,
  webhooks: webhookTable,
  deliveries: deliveryTable,
  assistantOutlets: assistantOutletTable,
  assistantGrants: assistantGrantTable,
  assistantMarks: assistantMarkTable,
  assistantReplies: assistantReplyTable,
  assistantDeliveries: assistantDeliveryTable,
  operators: operatorTable,
  operatorSessions: operatorSessionTable,
  operatorTokens: operatorTokenTable,
  operatorLinks: operatorLinkTable,
  clock: (sql) => ({ nowMs: () => sql.nowMs() }),
};

export const tableNames: readonly (keyof Transaction)[] = Object.keys(tables) as (keyof Transaction)[];

/** One open transaction. Tables are created lazily: most transactions use few of them. */
class OpenTransaction {
  readonly sql: Sql;
  readonly created: Partial<Record<keyof Transaction, unknown>> = {};

  constructor(sql: Sql) {
    this.sql = sql;
  }
}

for (const name of tableNames) {
  Object.defineProperty(OpenTransaction.prototype, name, {
    enumerable: true,
    get(this: OpenTransaction) {
      this.created[name] ??= tables[name](this.sql);
      return this.created[name];
    },
  });
}

export function transactionOn(sql: Sql): Transaction {
  return new OpenTransaction(sql) as unknown as Transaction;
}
