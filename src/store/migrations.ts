import { BreezewayError } from "../model/errors.ts";
import type { Dialect, Sql } from "./sql.ts";

/** A step of the schema: the statements of one transaction, or an index on a table that may be large. */
export type Step = ((dialect: DialectSql) => readonly string[]) | IndexStep;

/** Built on PostgreSQL with CREATE INDEX CONCURRENTLY, which can't run in a transaction. */
export interface IndexStep {
  readonly index: string;
  /** The table and its columns, as SQL. */
  readonly on: string;
}

/** Addresses of webhooks are sealed, and each node reports its schema version. */
const sealedAddresses: Step = () => [
  "ALTER TABLE webhooks ADD COLUMN sealed_url TEXT",
  "ALTER TABLE nodes ADD COLUMN schema_version INTEGER",
];

/**
 * The scope of a grant. Null means everything: in rows that existed before this step, and in rows that nodes of the
 * previous version add. Likewise, existing webhooks receive alerts.
 */
const scopedTokens: Step = () => [
  "ALTER TABLE codes ADD COLUMN scope TEXT",
  "ALTER TABLE grants ADD COLUMN scope TEXT",
  "ALTER TABLE access_tokens ADD COLUMN scope TEXT",
  "ALTER TABLE webhooks ADD COLUMN hears_alerts INTEGER NOT NULL DEFAULT 1",
];

const thingIndexes = [
  "CREATE INDEX things_of_device ON things (user_id, device_id)",
  // For enterprise clients, which do not know the owner.
  "CREATE INDEX things_by_id ON things (thing_id)",
];

/** The things of linked accounts. Nodes that don't know this step neither write them nor remove them with their device. */
const things: Step = ({ integer, withoutRowid, deviceKey }) => [
  `CREATE TABLE things (
     user_id INTEGER NOT NULL, thing_id TEXT NOT NULL, device_id INTEGER NOT NULL, external_key TEXT NOT NULL,
     source TEXT NOT NULL, kind TEXT NOT NULL, room TEXT, descriptor TEXT NOT NULL, state TEXT NOT NULL,
     print ${integer} NOT NULL, samples TEXT NOT NULL, gone_ms ${integer},
     PRIMARY KEY (user_id, thing_id), FOREIGN KEY ${deviceKey} ON DELETE CASCADE) ${withoutRowid}`,
  ...thingIndexes,
];

/**
 * The credential of a link, and when its owner began to renew it. Null in rows that existed before this step and in rows
 * that nodes of the previous version add: such a link has only its token. A credential that nodes of the previous
 * version have left behind is recognised by its access token (federation/credential.ts).
 */
const credentials: Step = ({ integer }) => [
  "ALTER TABLE links ADD COLUMN sealed_credential TEXT",
  `ALTER TABLE links ADD COLUMN renewing_ms ${integer}`,
];

/**
 * Webhooks that receive messages about things, and the position up to which log entries have become such messages. Nodes
 * that don't know this step advance only the position of the other messages (events/webhooks/feeder.ts).
 */
const thingMessages: Step = ({ integer }) => [
  "ALTER TABLE webhooks ADD COLUMN hears_things INTEGER NOT NULL DEFAULT 0",
  `ALTER TABLE webhook_feed ADD COLUMN thing_transaction_id ${integer} NOT NULL DEFAULT 0`,
  `ALTER TABLE webhook_feed ADD COLUMN thing_entry_id ${integer} NOT NULL DEFAULT 0`,
  "UPDATE webhook_feed SET thing_transaction_id = transaction_id, thing_entry_id = entry_id",
];

/**
 * Commands to things. They have a table of their own: nodes that don't know this step send every queued row of
 * `commands` as a fan request.
 */
const thingCommands: Step = ({ id, integer, deviceKey, thingCommandKey }) => [
  `CREATE TABLE thing_commands (
     id ${id}, user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, thing_id TEXT NOT NULL, external_key TEXT NOT NULL,
     command TEXT NOT NULL, plan TEXT, state TEXT NOT NULL, step INTEGER NOT NULL, error TEXT, client_id TEXT,
     requested_ms ${integer} NOT NULL, sent_ms ${integer}, settled_ms ${integer}, blocked_until_ms ${integer},
     FOREIGN KEY ${deviceKey} ON DELETE CASCADE)`,
  ...thingCommandKey,
  "CREATE INDEX thing_commands_of_thing ON thing_commands (user_id, device_id, thing_id, id)",
  "CREATE INDEX thing_commands_unsettled ON thing_commands (state, id) WHERE state IN ('queued', 'sending', 'accepted')",
];

const thingAlertIndexes = [
  "CREATE INDEX thing_triggers_of_thing ON thing_triggers (user_id, thing_id, field)",
  // Every commit looks here whether a device has enabled alerts on things. New alerts are counted here too.
  "CREATE INDEX thing_triggers_of_device ON thing_triggers (user_id, device_id, is_enabled, bytes)",
  // For enterprise clients, which do not know the owner.
  "CREATE INDEX thing_triggers_by_id ON thing_triggers (id)",
];

/**
 * Alerts on things, in a table of their own: nodes that don't know this step would take a row of `triggers` for an alert
 * on an attribute. Such nodes neither evaluate these alerts nor count them. The foreign key removes an alert with its
 * thing, also when such a node unlinks the account.
 */
const thingAlerts: Step = ({ integer }) => [
  `CREATE TABLE thing_triggers (
     id INTEGER NOT NULL, user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, thing_id TEXT NOT NULL,
     field TEXT NOT NULL, condition TEXT NOT NULL, action TEXT NOT NULL, targets TEXT NOT NULL, address TEXT NOT NULL,
     message TEXT NOT NULL, bytes INTEGER NOT NULL, auto_disarm INTEGER NOT NULL, auto_delete INTEGER NOT NULL,
     auto_disable INTEGER NOT NULL, is_enabled INTEGER NOT NULL, is_armed INTEGER NOT NULL, reason TEXT,
     created_ms ${integer} NOT NULL, fired_ms ${integer}, firings INTEGER NOT NULL, record TEXT NOT NULL,
     PRIMARY KEY (user_id, id),
     FOREIGN KEY (user_id, thing_id) REFERENCES things (user_id, thing_id) ON DELETE CASCADE)`,
  ...thingAlertIndexes,
];

/**
 * The trait maps of tenants' own device types. Things of own devices have no rows, so an alert on such a thing belongs
 * to its device: the foreign key of alerts on things names the device instead of the thing. Nodes that don't know this
 * step ignore maps. They leave an alert in place when they forget a thing that was gone for long.
 */
const deviceTypeMaps: Step = ({ integer, withoutRowid, thingAlertsOfDevice }) => [
  `CREATE TABLE device_type_maps (
     tenant_id INTEGER NOT NULL, type_id INTEGER NOT NULL REFERENCES device_types (id), map TEXT NOT NULL,
     changed_ms ${integer} NOT NULL, PRIMARY KEY (tenant_id, type_id)) ${withoutRowid}`,
  ...thingAlertsOfDevice,
];

/** Commands of alerts as JSON, null without any, and the alert that sent a command. */
const alertCommands: Step = () => [
  "ALTER TABLE triggers ADD COLUMN commands TEXT",
  "ALTER TABLE thing_triggers ADD COLUMN commands TEXT",
  "ALTER TABLE thing_commands ADD COLUMN alert_id INTEGER",
];

/**
 * When a command to an own thing must be settled. Nodes that don't know this step settle such a command as `expired`
 * 34 seconds after its request.
 */
const ownCommands: Step = ({ integer }) => [
  `ALTER TABLE thing_commands ADD COLUMN due_ms ${integer}`,
  "CREATE INDEX thing_commands_due ON thing_commands (due_ms, id) WHERE state = 'sending' AND due_ms IS NOT NULL",
];

/**
 * Work on all devices of a type after its trait map was changed, and which devices have fallen silent. Nodes that don't
 * know this step change maps without logging it, and log no silence.
 */
const deviceTypeWork: Step = ({ integer, withoutRowid }) => [
  `CREATE TABLE device_type_work (
     tenant_id INTEGER NOT NULL, type_id INTEGER NOT NULL, what TEXT, begun_ms ${integer} NOT NULL,
     after_id INTEGER NOT NULL, due_ms ${integer} NOT NULL, PRIMARY KEY (tenant_id, type_id)) ${withoutRowid}`,
  "CREATE INDEX device_type_work_due ON device_type_work (due_ms)",
  `ALTER TABLE devices ADD COLUMN silent_ms ${integer}`,
];

/** How often an alert has sent commands in the present minute. Nodes that don't know this step don't limit it. */
const commandingFirings: Step = ({ integer }) =>
  ["triggers", "thing_triggers"].flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN commanding_ms ${integer}`,
    `ALTER TABLE ${table} ADD COLUMN commanding_firings INTEGER`,
  ]);

/**
 * Sessions in which an account's owner links the account on our pages, and what a client is registered with for them.
 * Nodes that don't know this step have no such pages, and feed no message about a session to webhooks.
 */
const linkSessions: Step = ({ integer }) => [
  `CREATE TABLE link_sessions (
     owner_id INTEGER NOT NULL, id TEXT NOT NULL, tenant_id INTEGER NOT NULL, client_id TEXT NOT NULL, user_id INTEGER,
     ecosystem TEXT NOT NULL, mode TEXT NOT NULL, return_url TEXT, client_state TEXT, token_hash TEXT NOT NULL,
     state_hash TEXT, browser_hash TEXT, is_signed_in INTEGER NOT NULL, sealed TEXT NOT NULL, attempt INTEGER NOT NULL,
     phase TEXT NOT NULL, claimed_ms ${integer}, problem TEXT, device_id INTEGER, summary TEXT,
     created_ms ${integer} NOT NULL, expires_ms ${integer} NOT NULL, PRIMARY KEY (owner_id, id))`,
  "CREATE INDEX link_sessions_by_token ON link_sessions (owner_id, token_hash)",
  "CREATE INDEX link_sessions_by_state ON link_sessions (owner_id, state_hash)",
  "CREATE INDEX link_sessions_of_client ON link_sessions (owner_id, client_id)",
  "CREATE INDEX link_sessions_expiring ON link_sessions (expires_ms)",
  "ALTER TABLE clients ADD COLUMN return_urls TEXT",
  "ALTER TABLE clients ADD COLUMN vouches_for_users INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE webhooks ADD COLUMN hears_link_sessions INTEGER NOT NULL DEFAULT 0",
];

/**
 * Feeds with the events of all accounts of a deployment: the account of each link, messages that wait for the owner of
 * the link, and which node pulls a feed. Nodes that don't know this step neither pull nor read. The foreign keys remove
 * the rows of a link with its device.
 */
const feeds: Step = ({ integer, withoutRowid, deviceKey }) => [
  `CREATE TABLE feed_accounts (
     user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, ecosystem TEXT NOT NULL, account TEXT NOT NULL,
     PRIMARY KEY (user_id, device_id), FOREIGN KEY ${deviceKey} ON DELETE CASCADE) ${withoutRowid}`,
  "CREATE INDEX feed_accounts_by_account ON feed_accounts (ecosystem, account)",
  `CREATE TABLE feed_messages (
     user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, message_id TEXT NOT NULL, content TEXT,
     received_ms ${integer} NOT NULL, PRIMARY KEY (user_id, device_id, message_id),
     FOREIGN KEY ${deviceKey} ON DELETE CASCADE) ${withoutRowid}`,
  "CREATE INDEX feed_messages_by_time ON feed_messages (received_ms)",
  `CREATE TABLE feed_leases (
     ecosystem TEXT PRIMARY KEY, owner TEXT, answered_ms ${integer} NOT NULL, fault TEXT)`,
];

/**
 * Outlets to assistants, the users who have linked them, and what these have to be told. Nodes that don't know this step
 * neither report nor remove these rows with their user: a sweep removes rows whose client has no grant any more.
 */
const assistants: Step = ({ integer, withoutRowid }) => [
  `CREATE TABLE assistant_outlets (
     owner_id INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, client_id TEXT NOT NULL UNIQUE,
     sealed_settings TEXT NOT NULL, created_ms ${integer} NOT NULL, PRIMARY KEY (owner_id, id))`,
  `CREATE TABLE assistant_grants (
     owner_id INTEGER NOT NULL, outlet_id TEXT NOT NULL, client_id TEXT NOT NULL, agent_user_id TEXT NOT NULL,
     sealed_credential TEXT, region TEXT, since_ms ${integer} NOT NULL, stale_devices TEXT NOT NULL DEFAULT '[]',
     due_ms ${integer}, claim INTEGER NOT NULL DEFAULT 0, claimed_until_ms ${integer} NOT NULL DEFAULT 0,
     attempts INTEGER NOT NULL DEFAULT 0, problem TEXT, reported_ms ${integer}, PRIMARY KEY (owner_id, outlet_id))`,
  "CREATE INDEX assistant_grants_of_outlet ON assistant_grants (outlet_id, owner_id)",
  "CREATE INDEX assistant_grants_due ON assistant_grants (due_ms) WHERE due_ms IS NOT NULL",
  `CREATE TABLE assistant_marks (
     owner_id INTEGER NOT NULL, outlet_id TEXT NOT NULL, thing_id TEXT NOT NULL, version INTEGER NOT NULL,
     since_ms ${integer} NOT NULL, state_ms ${integer}, sync_ms ${integer}, due_ms ${integer} NOT NULL,
     is_urgent INTEGER NOT NULL, rises TEXT NOT NULL, PRIMARY KEY (owner_id, outlet_id, thing_id)) ${withoutRowid}`,
  `CREATE TABLE assistant_replies (
     owner_id INTEGER NOT NULL, outlet_id TEXT NOT NULL, command_id TEXT NOT NULL, thing_id TEXT NOT NULL,
     reply TEXT NOT NULL, expires_ms ${integer} NOT NULL, PRIMARY KEY (owner_id, outlet_id, command_id))`,
  "CREATE INDEX assistant_replies_expiring ON assistant_replies (expires_ms)",
  `CREATE TABLE assistant_deliveries (
     owner_id INTEGER NOT NULL, outlet_id TEXT NOT NULL, id INTEGER NOT NULL, type TEXT NOT NULL,
     thing_ids TEXT NOT NULL, things INTEGER NOT NULL, outcome TEXT NOT NULL, status INTEGER, text TEXT,
     created_ms ${integer} NOT NULL, PRIMARY KEY (owner_id, outlet_id, id)) ${withoutRowid}`,
  "CREATE INDEX assistant_deliveries_of_outlet ON assistant_deliveries (outlet_id, created_ms)",
  "CREATE INDEX assistant_deliveries_by_time ON assistant_deliveries (created_ms)",
  // One row: the position up to which log entries have become marks.
  `CREATE TABLE assistant_feed (
     only_row INTEGER PRIMARY KEY, transaction_id ${integer} NOT NULL, entry_id ${integer} NOT NULL,
     epoch TEXT NOT NULL, swept_ms ${integer} NOT NULL)`,
  "INSERT INTO assistant_feed (only_row, transaction_id, entry_id, epoch, swept_ms) VALUES (1, 0, 0, '', 0)",
];

/**
 * The migrations of the schema, in order. A released step never changes; a new one is appended. On PostgreSQL:
 * - The primary key of every growing table begins with the owner of the rows, so that a large deployment can be sharded
 *   by it (docs/scaling.md).
 * - A step runs while nodes of the previous version work (docs/operations.md, Upgrade). So a step only adds; a later
 *   version removes what no running version uses any more.
 * - Rewriting the rows of a large table is a step of its own, to keep the table's lock short.
 */
const steps: readonly Step[] = [
  ({ id, integer, log, withoutRowid }) => [
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    `CREATE TABLE tenants (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_ms ${integer} NOT NULL)`,
    `CREATE TABLE users (
       id ${id}, tenant_id INTEGER NOT NULL REFERENCES tenants (id), name TEXT NOT NULL, password_hash TEXT NOT NULL,
       is_admin INTEGER NOT NULL, created_ms ${integer} NOT NULL, UNIQUE (tenant_id, name))`,
    `CREATE TABLE sec_tokens (
       hash TEXT PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users (id),
       issued_ms ${integer} NOT NULL, used_ms ${integer} NOT NULL)`,
    "CREATE INDEX sec_tokens_of_user ON sec_tokens (user_id)",
    `CREATE TABLE device_types (id ${id}, name TEXT NOT NULL UNIQUE)`,
    `CREATE TABLE devices (
       id ${id}, user_id INTEGER NOT NULL REFERENCES users (id), type_id INTEGER NOT NULL REFERENCES device_types (id),
       name TEXT NOT NULL, is_virtual INTEGER NOT NULL, last_time_ms ${integer} NOT NULL, created_ms ${integer} NOT NULL)`,
    "CREATE INDEX devices_of_user ON devices (user_id, id)",
    `CREATE TABLE attributes (
       user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL,
       value TEXT, time_ms ${integer} NOT NULL, PRIMARY KEY (user_id, device_id, number, name)) ${withoutRowid}`,
    `CREATE TABLE links (
       user_id INTEGER NOT NULL REFERENCES users (id), device_id INTEGER NOT NULL UNIQUE REFERENCES devices (id),
       ecosystem TEXT NOT NULL, sealed_token TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, owner TEXT,
       epoch INTEGER NOT NULL, confirmed_ms ${integer} NOT NULL, index_map TEXT NOT NULL, notices TEXT NOT NULL,
       PRIMARY KEY (user_id, ecosystem))`,
    "CREATE INDEX links_of_owner ON links (owner, device_id)",
    ...log,
    `CREATE TABLE nodes (id TEXT PRIMARY KEY, beat_ms ${integer} NOT NULL)`,
  ],
  ({ integer, withoutRowid }) => [
    `ALTER TABLE links ADD COLUMN blind_since_ms ${integer}`,
    "ALTER TABLE links ADD COLUMN blind_cause TEXT",
    `CREATE TABLE blind_intervals (
       user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, from_ms ${integer} NOT NULL, to_ms ${integer} NOT NULL,
       cause TEXT NOT NULL, PRIMARY KEY (user_id, device_id, from_ms)) ${withoutRowid}`,
  ],
  ({ id, integer, revocations }) => [
    ...["accent", "support_url", "logo", "terms", "terms_version"].map(
      (name) => `ALTER TABLE tenants ADD COLUMN ${name} TEXT`,
    ),
    `ALTER TABLE tenants ADD COLUMN terms_ms ${integer}`,
    // Allows to list a tenant's devices of one type without a join with its users.
    "ALTER TABLE devices ADD COLUMN tenant_id INTEGER NOT NULL DEFAULT 0",
    "UPDATE devices SET tenant_id = (SELECT tenant_id FROM users WHERE users.id = devices.user_id)",
    "CREATE INDEX devices_of_tenant ON devices (tenant_id, type_id, id)",
    `CREATE TABLE clients (
       id TEXT PRIMARY KEY, tenant_id INTEGER NOT NULL REFERENCES tenants (id), name TEXT NOT NULL, kind TEXT NOT NULL,
       redirect_uris TEXT NOT NULL, requires_pkce INTEGER NOT NULL, secrets TEXT NOT NULL, created_ms ${integer} NOT NULL)`,
    "CREATE INDEX clients_of_tenant ON clients (tenant_id)",
    `CREATE TABLE sign_ins (
       id_hash TEXT PRIMARY KEY, login_id TEXT NOT NULL, secret_hash TEXT NOT NULL, user_id INTEGER NOT NULL,
       client_id TEXT NOT NULL, request TEXT NOT NULL, decision TEXT, expires_ms ${integer} NOT NULL)`,
    "CREATE INDEX sign_ins_of_login ON sign_ins (login_id)",
    `CREATE TABLE codes (
       hash TEXT PRIMARY KEY, client_id TEXT NOT NULL, user_id INTEGER NOT NULL, redirect_uri TEXT NOT NULL,
       is_redirect_uri_sent INTEGER NOT NULL, challenge TEXT, expires_ms ${integer} NOT NULL, grant_id TEXT)`,
    `CREATE TABLE grants (
       id TEXT PRIMARY KEY, tenant_id INTEGER NOT NULL, user_id INTEGER, client_id TEXT NOT NULL, reach TEXT NOT NULL,
       created_ms ${integer} NOT NULL)`,
    "CREATE INDEX grants_of_user ON grants (user_id)",
    "CREATE INDEX grants_of_client ON grants (client_id)",
    `CREATE TABLE access_tokens (hash TEXT PRIMARY KEY, grant_id TEXT NOT NULL, expires_ms ${integer} NOT NULL)`,
    "CREATE INDEX access_tokens_of_grant ON access_tokens (grant_id)",
    `CREATE TABLE refresh_tokens (
       hash TEXT PRIMARY KEY, grant_id TEXT NOT NULL, parent_hash TEXT, issued_ms ${integer} NOT NULL,
       expires_ms ${integer} NOT NULL, is_used INTEGER NOT NULL, retires_ms ${integer})`,
    "CREATE INDEX refresh_tokens_of_grant ON refresh_tokens (grant_id)",
    `CREATE TABLE audit (
       id ${id}, tenant_id INTEGER, time_ms ${integer} NOT NULL, act TEXT NOT NULL, user_id INTEGER, client_id TEXT,
       source TEXT NOT NULL, detail TEXT NOT NULL)`,
    "CREATE INDEX audit_of_tenant ON audit (tenant_id, id)",
    revocations,
  ],
  ({ id, integer }) => [
    `CREATE TABLE commands (
       id ${id}, user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, attribute INTEGER NOT NULL,
       thermostat_id TEXT NOT NULL, value TEXT NOT NULL, state TEXT NOT NULL, text TEXT, requested_ms ${integer} NOT NULL,
       sent_ms ${integer}, settled_ms ${integer}, blocked_until_ms ${integer})`,
    "CREATE INDEX commands_of_device ON commands (user_id, device_id, attribute, id)",
    "CREATE INDEX commands_unsettled ON commands (state, id) WHERE state IN ('queued', 'sending', 'accepted')",
  ],
  ({ id, integer }) => [
    `CREATE TABLE triggers (
       id ${id}, user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL,
       attribute_name TEXT NOT NULL, condition TEXT NOT NULL, action TEXT NOT NULL, targets TEXT NOT NULL,
       address TEXT NOT NULL, message TEXT NOT NULL, auto_disarm INTEGER NOT NULL, auto_delete INTEGER NOT NULL,
       auto_disable INTEGER NOT NULL, is_enabled INTEGER NOT NULL, is_armed INTEGER NOT NULL, reason TEXT,
       created_ms ${integer} NOT NULL, fired_ms ${integer}, firings INTEGER NOT NULL, record TEXT NOT NULL)`,
    "CREATE INDEX triggers_of_device ON triggers (user_id, device_id, id)",
    // Every commit finds here the alerts that watch a changed attribute.
    "CREATE INDEX triggers_watching ON triggers (user_id, device_id, number, name) WHERE is_enabled = 1",
  ],
  ({ id, integer }) => [
    // One row: the position where the log begins, since retention removes old entries.
    `CREATE TABLE log_horizon (
       only_row INTEGER PRIMARY KEY, transaction_id ${integer} NOT NULL, entry_id ${integer} NOT NULL)`,
    "INSERT INTO log_horizon (only_row, transaction_id, entry_id) VALUES (1, 0, 0)",
    `CREATE TABLE webhooks (
       id TEXT PRIMARY KEY, tenant_id INTEGER NOT NULL, user_id INTEGER, client_id TEXT NOT NULL, url TEXT NOT NULL,
       sealed_secret TEXT NOT NULL, device_ids TEXT NOT NULL, attributes TEXT NOT NULL,
       from_transaction ${integer} NOT NULL, from_entry ${integer} NOT NULL, created_ms ${integer} NOT NULL)`,
    "CREATE INDEX webhooks_of_user ON webhooks (user_id)",
    "CREATE INDEX webhooks_of_client ON webhooks (client_id)",
    `CREATE TABLE webhook_deliveries (
       id ${id}, webhook_id TEXT NOT NULL, user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, message_id TEXT NOT NULL,
       type TEXT NOT NULL, body TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL, next_ms ${integer},
       created_ms ${integer} NOT NULL, settled_ms ${integer}, status INTEGER, text TEXT)`,
    "CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, id)",
    "CREATE INDEX webhook_deliveries_of_device ON webhook_deliveries (user_id, device_id)",
    `CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (webhook_id, device_id, id) WHERE state = 'waiting'`,
    `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_ms, id) WHERE state = 'waiting'`,
    // One row: the position up to which log entries were turned into deliveries.
    `CREATE TABLE webhook_feed (
       only_row INTEGER PRIMARY KEY, transaction_id ${integer} NOT NULL, entry_id ${integer} NOT NULL)`,
    "INSERT INTO webhook_feed (only_row, transaction_id, entry_id) VALUES (1, 0, 0)",
  ],
  ({ integer }) => [
    // The key is a hash of the user and the source address. Only nodes on PostgreSQL use this table.
    `CREATE TABLE failure_counts (
       key TEXT PRIMARY KEY, failures INTEGER NOT NULL, first_ms ${integer} NOT NULL, last_ms ${integer} NOT NULL)`,
  ],
  // All rows are keyed by their owner: a user, or a tenant itself (model/ids.ts, OwnerId).
  ({ keyedByOwner }) => [
    ...["grants", "webhooks", "audit"].map((table) => `ALTER TABLE ${table} RENAME COLUMN user_id TO owner_id`),
    "UPDATE grants SET owner_id = -tenant_id WHERE owner_id IS NULL",
    "UPDATE webhooks SET owner_id = -tenant_id WHERE owner_id IS NULL",
    "UPDATE audit SET owner_id = COALESCE(-tenant_id, 0) WHERE owner_id IS NULL",
    ...["access_tokens", "refresh_tokens", "webhook_deliveries"].map(
      (table) => `ALTER TABLE ${table} ADD COLUMN owner_id INTEGER NOT NULL DEFAULT 0`,
    ),
    ...["access_tokens", "refresh_tokens"].map(
      (table) =>
        `UPDATE ${table} SET owner_id = COALESCE((SELECT g.owner_id FROM grants g WHERE g.id = ${table}.grant_id), 0)`,
    ),
    `UPDATE webhook_deliveries SET owner_id =
       COALESCE((SELECT w.owner_id FROM webhooks w WHERE w.id = webhook_deliveries.webhook_id), 0)`,
    // Newer credentials name their owner. The owners of older credentials are looked up here; no row is ever added.
    "CREATE TABLE former_credentials (hash TEXT PRIMARY KEY, owner_id INTEGER NOT NULL)",
    `INSERT INTO former_credentials (hash, owner_id) SELECT hash, owner_id FROM access_tokens
       UNION ALL SELECT hash, owner_id FROM refresh_tokens UNION ALL SELECT hash, user_id FROM codes
       UNION ALL SELECT id_hash, user_id FROM sign_ins UNION ALL SELECT hash, user_id FROM sec_tokens`,
    "DROP INDEX webhook_deliveries_of_webhook",
    "CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (owner_id, webhook_id, id)",
    "DROP INDEX webhook_deliveries_waiting",
    `CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (owner_id, webhook_id, device_id, id)
       WHERE state = 'waiting'`,
    "CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (settled_ms) WHERE state <> 'waiting'",
    ...keyedByOwner,
  ],
  // A user has few tokens, which are found by their owner. A tenant itself may have many.
  { index: "access_tokens_of_tenant", on: "access_tokens (grant_id) WHERE owner_id < 0" },
  // This step drops only indexes, so the previous version still works.
  ({ tokensByOwner }) => ["DROP INDEX access_tokens_of_grant", "DROP INDEX refresh_tokens_of_grant", ...tokensByOwner],
  ({ epoch }) => [
    // One row: the epoch that log positions belong to, and the database in which it began (tables/log-epoch.ts).
    "CREATE TABLE log_epoch (only_row INTEGER PRIMARY KEY, epoch TEXT NOT NULL, place TEXT NOT NULL, takes_old_ids INTEGER NOT NULL)",
    `INSERT INTO log_epoch (only_row, epoch, place, takes_old_ids) VALUES (1, ${epoch}, '', 1)`,
    // The epoch that webhooks have seen. If log_epoch has another one, they must get a resync.
    "ALTER TABLE webhook_feed ADD COLUMN epoch TEXT NOT NULL DEFAULT ''",
  ],
  // The size of a device's attributes, and the last_time_ms at which it was counted (tables/attribute-usage.ts).
  ({ integer, alertSizes }) => [
    "ALTER TABLE devices ADD COLUMN attribute_names INTEGER",
    `ALTER TABLE devices ADD COLUMN attribute_bytes ${integer}`,
    `ALTER TABLE devices ADD COLUMN counted_ms ${integer}`,
    `ALTER TABLE devices ADD COLUMN erased_ms ${integer}`,
    ...alertSizes,
  ],
  { index: "devices_with_erased_names", on: "devices (erased_ms) WHERE erased_ms IS NOT NULL" },
  // By webhook, so that a webhook with much to deliver does not delay others.
  {
    index: "webhook_deliveries_heads",
    on: "webhook_deliveries (webhook_id, next_ms, id) WHERE state = 'waiting' AND next_ms IS NOT NULL",
  },
  sealedAddresses,
  ({ integer, withoutRowid }) => [
    `CREATE TABLE idempotency_keys (
       owner_id INTEGER NOT NULL, hash TEXT NOT NULL, expires_ms ${integer} NOT NULL, bytes INTEGER NOT NULL,
       answer TEXT, sealed_answer TEXT, PRIMARY KEY (owner_id, hash)) ${withoutRowid}`,
    "CREATE INDEX idempotency_keys_expiring ON idempotency_keys (expires_ms)",
    // Allows to count the keys of an owner without reading their answers.
    "CREATE INDEX idempotency_keys_sizes ON idempotency_keys (owner_id, bytes)",
    "CREATE INDEX idempotency_keys_sealed ON idempotency_keys (owner_id, hash) WHERE sealed_answer IS NOT NULL",
  ],
  // Each node reports the keys of its key file, first the one that seals (tables/nodes.ts).
  () => ["ALTER TABLE nodes ADD COLUMN sealing_keys TEXT"],
  scopedTokens,
  things,
  credentials,
  thingMessages,
  thingCommands,
  thingAlerts,
  () => ["ALTER TABLE devices ADD COLUMN room TEXT"],
  ({ integer, withoutRowid }) => [
    // The answers of a batch that may be repeated with its key, one row for each transaction (tables/batch-groups.ts).
    `CREATE TABLE batch_groups (
       owner_id INTEGER NOT NULL, hash TEXT NOT NULL, number INTEGER NOT NULL, lines INTEGER NOT NULL,
       digest TEXT NOT NULL, answers TEXT NOT NULL, bytes INTEGER NOT NULL, expires_ms ${integer} NOT NULL,
       PRIMARY KEY (owner_id, hash, number)) ${withoutRowid}`,
    "CREATE INDEX batch_groups_expiring ON batch_groups (expires_ms)",
    "CREATE INDEX batch_groups_sizes ON batch_groups (owner_id, bytes)",
    // The tenant whose client named the type first; null for a type that an operator named.
    "ALTER TABLE device_types ADD COLUMN tenant_id INTEGER",
    "CREATE INDEX device_types_of_tenant ON device_types (tenant_id)",
  ],
  deviceTypeMaps,
  alertCommands,
  // The size of these commands is counted for each new alert (tables/triggers.ts).
  { index: "triggers_with_commands", on: "triggers (user_id) WHERE commands IS NOT NULL" },
  ownCommands,
  ({ thingsWithRowids }) => thingsWithRowids,
  deviceTypeWork,
  linkSessions,
  commandingFirings,
  feeds,
  assistants,
];

export const schemaVersion = steps.length;
/** Versions that know fewer steps can't read sealed addresses. */
export const sealedAddressStep = steps.indexOf(sealedAddresses) + 1;
/** Versions that know fewer steps ignore scopes. */
export const scopeStep = steps.indexOf(scopedTokens) + 1;
/** Versions that know fewer steps follow links without writing their things. */
export const thingStep = steps.indexOf(things) + 1;

/**
 * Numbers of steps that are not backward compatible: code that doesn't know the step can't run on the schema after it,
 * because the step removed something or changed its meaning. Steps before the first of these are older than rolling
 * upgrades.
 */
const breakingSteps: readonly number[] = [8];

/** A list of steps. Tests use lists of their own. */
export interface SchemaPlan {
  readonly steps: readonly Step[];
  readonly breakingSteps: readonly number[];
}

const currentPlan: SchemaPlan = { steps, breakingSteps };

/**
 * Migrates the schema to this version, or by `most` steps; returns how many steps are left. Throws NewerSchema for a
 * schema of a later version, unless that version has recorded that this one is compatible with it.
 */
export async function migrate(sql: Sql, { most = Number.POSITIVE_INFINITY, plan = currentPlan } = {}): Promise<number> {
  await sql.run("CREATE TABLE IF NOT EXISTS schema_steps (step INTEGER PRIMARY KEY)");
  await sql.run("CREATE TABLE IF NOT EXISTS schema_reach (step INTEGER PRIMARY KEY, oldest INTEGER NOT NULL)");
  const known = plan.steps.length;
  const current = await appliedSteps(sql);
  if (current > known) {
    if ((await oldestAt(sql, current)) > known) throw new NewerSchema(current);
    return 0;
  }
  const last = Math.min(current + most, known);
  for (let number = current + 1; number <= last; number++) {
    const step = plan.steps[number - 1]!;
    const statements = "index" in step ? [`CREATE INDEX ${step.index} ON ${step.on}`] : step(dialectSql[sql.dialect]);
    for (const statement of statements) await sql.run(statement);
    await recordStep(sql, number, plan);
  }
  return known - last;
}

/** The next step, if it is an index. */
export async function nextIndex(
  sql: Sql,
  { steps } = currentPlan,
): Promise<(IndexStep & { number: number }) | undefined> {
  const number = (await appliedSteps(sql)) + 1;
  const next = steps[number - 1];
  return next && "index" in next ? { ...next, number } : undefined;
}

/** Records a step, and the oldest schema version whose code can run on the schema after it. */
export async function recordStep(sql: Sql, step: number, { breakingSteps } = currentPlan): Promise<void> {
  // Older versions that are refused already (nodes.refuseOld) stay refused.
  const [before] = await sql.all<{ oldest: number | null }>("SELECT MAX(oldest) AS oldest FROM schema_reach");
  const oldest = Math.max(before?.oldest ?? 0, ...breakingSteps.filter((breaking) => breaking <= step));
  await sql.run("INSERT INTO schema_steps (step) VALUES ($1)", [step]);
  await sql.run("INSERT INTO schema_reach (step, oldest) VALUES ($1, $2)", [step, oldest]);
}

async function oldestAt(sql: Sql, step: number): Promise<number> {
  const [found] = await sql.all<{ oldest: number }>("SELECT oldest FROM schema_reach WHERE step = $1", [step]);
  return found?.oldest ?? step;
}

/** The number of the last step that was taken; 0 in an empty store. */
export async function appliedSteps(sql: Sql): Promise<number> {
  const applied = await sql.all<{ step: number | null }>("SELECT MAX(step) AS step FROM schema_steps");
  return applied[0]?.step ?? 0;
}

export class NewerSchema extends BreezewayError {
  readonly code = "newer_schema";

  constructor(found: number) {
    super(
      `The store has schema version ${found}, this Breezeway knows ${schemaVersion}. Start the version that made it, or a later one.`,
    );
  }
}

/** Parts of statements that differ between the two databases. */
export interface DialectSql {
  readonly id: string;
  readonly integer: string;
  readonly withoutRowid: string;
  /** The columns of a row that belongs to a device, and the primary key that they refer to. */
  readonly deviceKey: string;
  readonly log: readonly string[];
  /** The index of revocations in the log, which all nodes read. */
  readonly revocations: string;
  /** Makes the owner the first column of primary keys. Empty on SQLite, which is never sharded. */
  readonly keyedByOwner: readonly string[];
  /** Eight random characters. */
  readonly epoch: string;
  /** Clusters the tokens of one owner in the SQLite file: a commit writes every page that it touches. */
  readonly tokensByOwner: readonly string[];
  /**
   * A covering index for the total size of a user's alerts. PostgreSQL can't use an expression index this way; it reads
   * the rows, which does not block other connections.
   */
  readonly alertSizes: readonly string[];
  /** Makes the owner the first column of the primary key. Empty on SQLite, which is never sharded. */
  readonly thingCommandKey: readonly string[];
  /** Replaces the foreign key of alerts on things by one that names the device. */
  readonly thingAlertsOfDevice: readonly string[];
  /**
   * Rows of `things` have about 900 bytes. In a SQLite table without rowids, a row of that size needs a page of its own
   * for what exceeds a quarter of a page: a full home took 230 kB instead of 93 kB.
   */
  readonly thingsWithRowids: readonly string[];
}

/** Changes the primary key of a table on PostgreSQL. */
const primaryKey = (table: string, columns: string) =>
  `ALTER TABLE ${table} DROP CONSTRAINT ${table}_pkey, ADD PRIMARY KEY (${columns})`;

/** Changes the definition of a table on SQLite, which requires a new table. */
const rebuilt = (table: string, columns: string, definition: string) => [
  `CREATE TABLE new_${table} ${definition}`,
  `INSERT INTO new_${table} (${columns}) SELECT ${columns} FROM ${table}`,
  `DROP TABLE ${table}`,
  `ALTER TABLE new_${table} RENAME TO ${table}`,
];

const dialectSql: Record<Dialect, DialectSql> = {
  sqlite: {
    // AUTOINCREMENT: an id is never used twice, even after its row was deleted.
    id: "INTEGER PRIMARY KEY AUTOINCREMENT",
    integer: "INTEGER",
    withoutRowid: "WITHOUT ROWID",
    deviceKey: "(device_id) REFERENCES devices (id)",
    log: [
      `CREATE TABLE log (
         id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL, device_id INTEGER, kind TEXT NOT NULL,
         time_ms INTEGER NOT NULL, body TEXT NOT NULL)`,
      "CREATE INDEX log_of_device ON log (user_id, device_id, time_ms)",
    ],
    revocations: "CREATE INDEX log_of_revocations ON log (id) WHERE kind = 'revocation'",
    keyedByOwner: [],
    epoch: "lower(hex(randomblob(4)))",
    tokensByOwner: [
      ...rebuilt(
        "access_tokens",
        "hash, grant_id, expires_ms, owner_id",
        `(hash TEXT NOT NULL, grant_id TEXT NOT NULL, expires_ms INTEGER NOT NULL, owner_id INTEGER NOT NULL,
         PRIMARY KEY (owner_id, hash)) WITHOUT ROWID`,
      ),
      "CREATE INDEX access_tokens_of_tenant ON access_tokens (grant_id) WHERE owner_id < 0",
      ...rebuilt(
        "refresh_tokens",
        "hash, grant_id, parent_hash, issued_ms, expires_ms, is_used, retires_ms, owner_id",
        `(hash TEXT NOT NULL, grant_id TEXT NOT NULL, parent_hash TEXT, issued_ms INTEGER NOT NULL,
         expires_ms INTEGER NOT NULL, is_used INTEGER NOT NULL, retires_ms INTEGER, owner_id INTEGER NOT NULL,
         PRIMARY KEY (owner_id, hash)) WITHOUT ROWID`,
      ),
      // With rowids, new rows are appended, also in the index by client.
      ...rebuilt(
        "grants",
        "id, tenant_id, owner_id, client_id, reach, created_ms",
        `(id TEXT NOT NULL, tenant_id INTEGER NOT NULL, owner_id INTEGER NOT NULL, client_id TEXT NOT NULL,
         reach TEXT NOT NULL, created_ms INTEGER NOT NULL, PRIMARY KEY (owner_id, id))`,
      ),
      "CREATE INDEX grants_of_client ON grants (client_id)",
    ],
    thingAlertsOfDevice: [
      ...rebuilt(
        "thing_triggers",
        `id, user_id, device_id, thing_id, field, condition, action, targets, address, message, bytes, auto_disarm,
         auto_delete, auto_disable, is_enabled, is_armed, reason, created_ms, fired_ms, firings, record`,
        `(id INTEGER NOT NULL, user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, thing_id TEXT NOT NULL,
         field TEXT NOT NULL, condition TEXT NOT NULL, action TEXT NOT NULL, targets TEXT NOT NULL,
         address TEXT NOT NULL, message TEXT NOT NULL, bytes INTEGER NOT NULL, auto_disarm INTEGER NOT NULL,
         auto_delete INTEGER NOT NULL, auto_disable INTEGER NOT NULL, is_enabled INTEGER NOT NULL,
         is_armed INTEGER NOT NULL, reason TEXT, created_ms INTEGER NOT NULL, fired_ms INTEGER,
         firings INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (user_id, id),
         FOREIGN KEY (device_id) REFERENCES devices (id) ON DELETE CASCADE)`,
      ),
      ...thingAlertIndexes,
    ],
    thingsWithRowids: [
      ...rebuilt(
        "things",
        `user_id, thing_id, device_id, external_key, source, kind, room, descriptor, state, print, samples, gone_ms`,
        `(user_id INTEGER NOT NULL, thing_id TEXT NOT NULL, device_id INTEGER NOT NULL, external_key TEXT NOT NULL,
         source TEXT NOT NULL, kind TEXT NOT NULL, room TEXT, descriptor TEXT NOT NULL, state TEXT NOT NULL,
         print INTEGER NOT NULL, samples TEXT NOT NULL, gone_ms INTEGER, PRIMARY KEY (user_id, thing_id),
         FOREIGN KEY (device_id) REFERENCES devices (id) ON DELETE CASCADE)`,
      ),
      ...thingIndexes,
    ],
    alertSizes: [
      // Pages of a user's alerts are read in the order of their ids.
      "CREATE INDEX triggers_of_user ON triggers (user_id, id)",
      `CREATE INDEX triggers_sizes ON triggers (user_id, device_id, (octet_length(attribute_name) +
         octet_length(condition) + octet_length(action) + octet_length(targets) + octet_length(address) +
         octet_length(message)))`,
    ],
    thingCommandKey: [],
  },
  postgres: {
    id: "INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    integer: "BIGINT",
    withoutRowid: "",
    deviceKey: "(user_id, device_id) REFERENCES devices (user_id, id)",
    log: [
      `CREATE TABLE log (
         user_id INTEGER NOT NULL, id BIGINT GENERATED ALWAYS AS IDENTITY, xid XID8 NOT NULL DEFAULT pg_current_xact_id(),
         device_id INTEGER, kind TEXT NOT NULL, time_ms BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (user_id, id))`,
      "CREATE INDEX log_by_transaction ON log (xid, id)",
      "CREATE INDEX log_of_device ON log (user_id, device_id, time_ms)",
    ],
    revocations: "CREATE INDEX log_of_revocations ON log (xid, id) WHERE kind = 'revocation'",
    keyedByOwner: [
      "ALTER TABLE links DROP CONSTRAINT links_device_id_fkey, DROP CONSTRAINT links_device_id_key",
      primaryKey("devices", "user_id, id"),
      `ALTER TABLE links ADD UNIQUE (user_id, device_id),
         ADD FOREIGN KEY (user_id, device_id) REFERENCES devices (user_id, id)`,
      "DROP INDEX devices_of_user",
      "CREATE INDEX devices_of_tenant_by_id ON devices (tenant_id, id)",
      primaryKey("triggers", "user_id, id"),
      "CREATE INDEX triggers_by_id ON triggers (id)",
      primaryKey("commands", "user_id, device_id, id"),
      primaryKey("sec_tokens", "user_id, hash"),
      "DROP INDEX sec_tokens_of_user",
      primaryKey("sign_ins", "user_id, id_hash"),
      primaryKey("codes", "user_id, hash"),
      primaryKey("grants", "owner_id, id"),
      "DROP INDEX grants_of_user",
      primaryKey("access_tokens", "owner_id, hash"),
      primaryKey("refresh_tokens", "owner_id, hash"),
      primaryKey("webhooks", "owner_id, id"),
      "DROP INDEX webhooks_of_user",
      primaryKey("webhook_deliveries", "owner_id, id"),
      primaryKey("audit", "owner_id, id"),
      "CREATE INDEX audit_by_id ON audit (id)",
    ],
    epoch: "substr(md5(gen_random_uuid()::text), 1, 8)",
    tokensByOwner: [],
    alertSizes: [],
    thingCommandKey: [primaryKey("thing_commands", "user_id, device_id, id")],
    // NOT VALID: the lock is short, because the rows are not checked.
    thingAlertsOfDevice: [
      `ALTER TABLE thing_triggers DROP CONSTRAINT thing_triggers_user_id_thing_id_fkey,
         ADD FOREIGN KEY (user_id, device_id) REFERENCES devices (user_id, id) ON DELETE CASCADE NOT VALID`,
    ],
    thingsWithRowids: [],
  },
};
