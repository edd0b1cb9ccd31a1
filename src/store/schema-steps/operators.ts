import type { Step } from "./step.ts";

/**
 * The people who run the service, with their sessions, API tokens and one-time links. Nodes that don't know this step
 * have no operators, and leave the operator of their audit entries empty.
 */
export const operators: Step = ({ id, integer }) => [
  `CREATE TABLE operators (
     id ${id}, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, reaches_all INTEGER NOT NULL, password_hash TEXT,
     oidc_subject TEXT UNIQUE, is_suspended INTEGER NOT NULL DEFAULT 0, created_ms ${integer} NOT NULL,
     signed_in_ms ${integer})`,
  `CREATE TABLE operator_tenants (
     operator_id INTEGER NOT NULL, tenant_id INTEGER NOT NULL, PRIMARY KEY (operator_id, tenant_id))`,
  "CREATE INDEX operator_tenants_of_tenant ON operator_tenants (tenant_id)",
  `CREATE TABLE operator_sessions (
     hash TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, operator_id INTEGER NOT NULL, created_ms ${integer} NOT NULL,
     used_ms ${integer} NOT NULL, password_ms ${integer} NOT NULL, address TEXT NOT NULL, user_agent TEXT NOT NULL,
     expires_ms ${integer} NOT NULL)`,
  "CREATE INDEX operator_sessions_of_operator ON operator_sessions (operator_id, created_ms)",
  "CREATE INDEX operator_sessions_expiring ON operator_sessions (expires_ms)",
  `CREATE TABLE operator_tokens (
     hash TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, operator_id INTEGER NOT NULL, name TEXT NOT NULL,
     created_ms ${integer} NOT NULL, expires_ms ${integer} NOT NULL, used_ms ${integer})`,
  "CREATE INDEX operator_tokens_of_operator ON operator_tokens (operator_id, created_ms)",
  `CREATE TABLE operator_links (
     hash TEXT PRIMARY KEY, kind TEXT NOT NULL, role TEXT NOT NULL, reaches_all INTEGER NOT NULL, tenants TEXT NOT NULL,
     name TEXT, created_ms ${integer} NOT NULL, expires_ms ${integer} NOT NULL)`,
  "CREATE INDEX operator_links_expiring ON operator_links (expires_ms)",
  "ALTER TABLE audit ADD COLUMN operator TEXT",
];

/**
 * Tokens that a token made. The database ends them with it, also when a node of a version that does not know this step
 * removes it. The reference is checked at COMMIT, so that a migration may copy the rows in any order.
 */
export const tokensOfTokens: Step = () => [
  `ALTER TABLE operator_tokens ADD COLUMN parent_id TEXT
     REFERENCES operator_tokens (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED`,
  "CREATE INDEX operator_tokens_of_token ON operator_tokens (parent_id)",
];
