import type { Dialect } from "../sql.ts";
import { primaryKey, type Step } from "./step.ts";

/** Makes the owner the first column of primary keys. Empty on SQLite, which is never sharded. */
const primaryKeys: Record<Dialect, readonly string[]> = {
  sqlite: [],
  postgres: [
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
};

/** All rows are keyed by their owner: a user, or a tenant itself (model/ids.ts, OwnerId). */
export const ownerKeys: Step = ({ dialect }) => [
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
  ...primaryKeys[dialect],
];
