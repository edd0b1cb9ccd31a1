import type { Dialect } from "../sql.ts";
import type { Step } from "./step.ts";

/** Webhooks with their deliveries, and where the log begins. */
export const webhooks: Step = ({ id, integer }) => [
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
];

/** Eight random characters. */
const epoch: Record<Dialect, string> = {
  sqlite: "lower(hex(randomblob(4)))",
  postgres: "substr(md5(gen_random_uuid()::text), 1, 8)",
};

/** The epoch of the log. */
export const logEpoch: Step = ({ dialect }) => [
  // One row: the epoch that log positions belong to, and the database in which it began (tables/log-epoch.ts).
  "CREATE TABLE log_epoch (only_row INTEGER PRIMARY KEY, epoch TEXT NOT NULL, place TEXT NOT NULL, takes_old_ids INTEGER NOT NULL)",
  `INSERT INTO log_epoch (only_row, epoch, place, takes_old_ids) VALUES (1, ${epoch[dialect]}, '', 1)`,
  // The epoch that webhooks have seen. If log_epoch has another one, they must get a resync.
  "ALTER TABLE webhook_feed ADD COLUMN epoch TEXT NOT NULL DEFAULT ''",
];

/** The next deliveries of each webhook, so that a webhook with much to deliver does not delay others. */
export const deliveryHeads: Step = {
  index: "webhook_deliveries_heads",
  on: "webhook_deliveries (webhook_id, next_ms, id) WHERE state = 'waiting' AND next_ms IS NOT NULL",
};

/** Addresses of webhooks are sealed, and each node reports its schema version. */
export const sealedAddresses: Step = () => [
  "ALTER TABLE webhooks ADD COLUMN sealed_url TEXT",
  "ALTER TABLE nodes ADD COLUMN schema_version INTEGER",
];

/** Each node reports the keys of its key file, first the one that seals (tables/nodes.ts). */
export const sealingKeys: Step = () => ["ALTER TABLE nodes ADD COLUMN sealing_keys TEXT"];

/**
 * Webhooks that receive messages about things, and the position up to which log entries have become such messages. Nodes
 * that don't know this step advance only the position of the other messages (events/webhooks/feeder.ts).
 */
export const thingMessages: Step = ({ integer }) => [
  "ALTER TABLE webhooks ADD COLUMN hears_things INTEGER NOT NULL DEFAULT 0",
  `ALTER TABLE webhook_feed ADD COLUMN thing_transaction_id ${integer} NOT NULL DEFAULT 0`,
  `ALTER TABLE webhook_feed ADD COLUMN thing_entry_id ${integer} NOT NULL DEFAULT 0`,
  "UPDATE webhook_feed SET thing_transaction_id = transaction_id, thing_entry_id = entry_id",
];

/**
 * The attempts of each delivery (tables/delivery-history.ts). A node that doesn't know this step records none: then only
 * the outcome of the last attempt is known.
 */
export const deliveryHistory: Step = () => ["ALTER TABLE webhook_deliveries ADD COLUMN history TEXT"];
