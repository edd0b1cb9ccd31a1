import type { Dialect } from "../sql.ts";
import type { Step } from "./step.ts";

const log: Record<Dialect, readonly string[]> = {
  sqlite: [
    `CREATE TABLE log (
       id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL, device_id INTEGER, kind TEXT NOT NULL,
       time_ms INTEGER NOT NULL, body TEXT NOT NULL)`,
    "CREATE INDEX log_of_device ON log (user_id, device_id, time_ms)",
  ],
  postgres: [
    `CREATE TABLE log (
       user_id INTEGER NOT NULL, id BIGINT GENERATED ALWAYS AS IDENTITY, xid XID8 NOT NULL DEFAULT pg_current_xact_id(),
       device_id INTEGER, kind TEXT NOT NULL, time_ms BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (user_id, id))`,
    "CREATE INDEX log_by_transaction ON log (xid, id)",
    "CREATE INDEX log_of_device ON log (user_id, device_id, time_ms)",
  ],
};

/** Tenants, users, devices with their attributes, links, the log and nodes. */
export const firstTables: Step = ({ dialect, id, integer, withoutRowid }) => [
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
  ...log[dialect],
  `CREATE TABLE nodes (id TEXT PRIMARY KEY, beat_ms ${integer} NOT NULL)`,
];
