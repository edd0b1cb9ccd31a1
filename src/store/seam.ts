import type { NodeBus } from "./node-bus.ts";
import type { Sql } from "./sql.ts";
import { type AccessTokenTable, accessTokenTable } from "./tables/access-tokens.ts";
import { type AttributeUsageTable, attributeUsageTable } from "./tables/attribute-usage.ts";
import { type AttributeTable, attributeTable } from "./tables/attributes.ts";
import { type AuditTable, auditTable } from "./tables/audit.ts";
import { type BlindIntervalTable, blindIntervalTable } from "./tables/blind-intervals.ts";
import { type ClientTable, clientTable } from "./tables/clients.ts";
import { type CodeTable, codeTable } from "./tables/codes.ts";
import { type CommandTable, commandTable } from "./tables/commands.ts";
import { type DeviceTable, deviceTable } from "./tables/devices.ts";
import { type FailureCountTable, failureCountTable } from "./tables/failure-counts.ts";
import { type GrantTable, grantTable } from "./tables/grants.ts";
import { type IdempotencyKeyTable, idempotencyKeyTable } from "./tables/idempotency-keys.ts";
import { type LinkTable, linkTable } from "./tables/links.ts";
import { type LogTable, logTable } from "./tables/log.ts";
import { type LogEpochTable, logEpochTable } from "./tables/log-epoch.ts";
import { type NodeTable, nodeTable } from "./tables/nodes.ts";
import { type RefreshTokenTable, refreshTokenTable } from "./tables/refresh-tokens.ts";
import { type SealedValueTable, sealedValueTable } from "./tables/sealed-values.ts";
import { type SecTokenTable, secTokenTable } from "./tables/sec-tokens.ts";
import { type SettingTable, settingTable } from "./tables/settings.ts";
import { type SignInTable, signInTable } from "./tables/sign-ins.ts";
import { type TenantTable, tenantTable } from "./tables/tenants.ts";
import { type TriggerTable, triggerTable } from "./tables/triggers.ts";
import { type UserTable, userTable } from "./tables/users.ts";
import { type DeliveryTable, deliveryTable } from "./tables/webhook-deliveries.ts";
import { type WebhookTable, webhookTable } from "./tables/webhooks.ts";

/**
 * The seam between Breezeway and its database. A transaction's body awaits nothing but its transaction and has no
 * outside effects: it may be run again, and on SQLite everybody waits while it runs.
 */
export interface Store<Tables = Transaction> {
  /** True when other nodes may write here too, so that memory must be checked before it is believed. */
  readonly isShared: boolean;
  /** Resolves when the transaction is durable. */
  transaction<Result>(body: (tx: Tables) => Promise<Result>, priority?: Priority): Promise<Result>;
  /** One consistent look, outside of any transaction; never waits for writers. */
  read<Result>(body: (tx: Tables) => Promise<Result>, priority?: Pick<Priority, "soon">): Promise<Result>;
}

/** How a transaction stands in line. */
export interface Priority {
  /** It goes before all that wait, and waits for no company. */
  readonly urgent?: boolean;
  /** Aborts when the transaction has become urgent while it waited. */
  readonly hurry?: AbortSignal;
  /** It goes before the ordinary ones and shares their company: for the one that must keep up with all of them. */
  readonly soon?: boolean;
  /** Nobody waits for its answer: it goes behind those for whom somebody does, and may take as long as that takes. */
  readonly patient?: boolean;
}

/** A store that lives: opened by its adapter, watched by `/readyz`, closed once. */
export interface OpenStore extends Store {
  readonly nodeBus: NodeBus;
  /** How the store does, for `/readyz`; rejects with the reason when the store can't be read or can't be written. */
  health(): Promise<StoreHealth>;
  /** How many bytes it takes where it lies. */
  size(): Promise<number>;
  /** How its connections are used; none where there are no pools. */
  pools(): readonly PoolUse[];
  /** Where the store is a file, what can be done about its free pages. */
  readonly space?: FileSpace | undefined;
  close(): Promise<void>;
}

/** Free pages in the file of a store, and how they are given back to the file system. */
export interface FileSpace {
  look(): Promise<SpaceUse>;
  /** Gives back at most so many free pages, in one short transaction. */
  giveBack(pages: number): Promise<void>;
  /** Writes the file anew, without free pages. Writes wait until it is done; reads go on. */
  rebuild(): Promise<void>;
  /** Moves the write-ahead log into the file, which is then as long as its pages. Writes wait for a moment. */
  flush(): Promise<void>;
}

export interface SpaceUse {
  readonly bytes: number;
  readonly pageBytes: number;
  readonly freePages: number;
  /** Whether pages can be given back in steps. Files of earlier versions have to be rebuilt once. */
  readonly isStepwise: boolean;
}

/** The connections of one pool, now. */
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
  readonly devices: DeviceTable;
  readonly commands: CommandTable;
  readonly attributes: AttributeTable;
  readonly attributeUsage: AttributeUsageTable;
  readonly triggers: TriggerTable;
  readonly idempotencyKeys: IdempotencyKeyTable;
  readonly links: LinkTable;
  readonly blindIntervals: BlindIntervalTable;
  readonly log: LogTable;
  readonly logEpoch: LogEpochTable;
  readonly nodes: NodeTable;
  readonly sealedValues: SealedValueTable;
  readonly settings: SettingTable;
  readonly webhooks: WebhookTable;
  readonly deliveries: DeliveryTable;
  /** The store's clock: no decision compares the clocks of two machines. */
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
  devices: deviceTable,
  commands: commandTable,
  attributes: attributeTable,
  attributeUsage: attributeUsageTable,
  triggers: triggerTable,
  idempotencyKeys: idempotencyKeyTable,
  links: linkTable,
  blindIntervals: blindIntervalTable,
  log: logTable,
  logEpoch: logEpochTable,
  nodes: nodeTable,
  sealedValues: sealedValueTable,
  settings: settingTable,
  webhooks: webhookTable,
  deliveries: deliveryTable,
  clock: (sql) => ({ nowMs: () => sql.nowMs() }),
};

export const tableNames: readonly (keyof Transaction)[] = Object.keys(tables) as (keyof Transaction)[];

/** One open transaction. A table is made when it is first asked for: most transactions touch few of them. */
class OpenTransaction {
  readonly sql: Sql;
  readonly made: Partial<Record<keyof Transaction, unknown>> = {};

  constructor(sql: Sql) {
    this.sql = sql;
  }
}

for (const name of tableNames) {
  Object.defineProperty(OpenTransaction.prototype, name, {
    enumerable: true,
    get(this: OpenTransaction) {
      this.made[name] ??= tables[name](this.sql);
      return this.made[name];
    },
  });
}

export function transactionOn(sql: Sql): Transaction {
  return new OpenTransaction(sql) as unknown as Transaction;
}
