import type { Dialect } from "../sql.ts";
import { rebuilt, type Step } from "./step.ts";

/** The index of revocations in the log, which all nodes read. */
const revocations: Record<Dialect, string> = {
  sqlite: "CREATE INDEX log_of_revocations ON log (id) WHERE kind = 'revocation'",
  postgres: "CREATE INDEX log_of_revocations ON log (xid, id) WHERE kind = 'revocation'",
};

/** The branding of tenants, clients, sign-ins, codes, grants, tokens and the audit log. */
export const authorizationServer: Step = ({ dialect, id, integer }) => [
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
  revocations[dialect],
];

/** Failed sign-ins. */
export const failureCounts: Step = ({ integer }) => [
  // The key is a hash of the user and the source address. Only nodes on PostgreSQL use this table.
  `CREATE TABLE failure_counts (
     key TEXT PRIMARY KEY, failures INTEGER NOT NULL, first_ms ${integer} NOT NULL, last_ms ${integer} NOT NULL)`,
];

/** Clients that are registered before this step, or by a node that does not know it, keep the scopes of their version. */
export const strictScopes: Step = () => ["ALTER TABLE clients ADD COLUMN has_strict_scopes INTEGER NOT NULL DEFAULT 0"];

/** A node that does not know this step sends `iss` to every client, and shows no login page at an address of its own. */
export const issuerOfClients: Step = () => ["ALTER TABLE clients ADD COLUMN sends_issuer INTEGER NOT NULL DEFAULT 1"];

/** A user has few tokens, which are found by their owner. A tenant itself may have many. */
export const tenantTokens: Step = {
  index: "access_tokens_of_tenant",
  on: "access_tokens (grant_id) WHERE owner_id < 0",
};

const clusteredByOwner: Record<Dialect, readonly string[]> = {
  sqlite: [
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
  postgres: [],
};

/**
 * Clusters the tokens of one owner in the SQLite file: a commit writes every page that it touches. On PostgreSQL this
 * step drops only indexes, so the previous version still works.
 */
export const tokensByOwner: Step = ({ dialect }) => [
  "DROP INDEX access_tokens_of_grant",
  "DROP INDEX refresh_tokens_of_grant",
  ...clusteredByOwner[dialect],
];

/**
 * The scope of a grant. Null means everything: in rows that existed before this step, and in rows that nodes of the
 * previous version add. Likewise, existing webhooks receive alerts.
 */
export const scopedTokens: Step = () => [
  "ALTER TABLE codes ADD COLUMN scope TEXT",
  "ALTER TABLE grants ADD COLUMN scope TEXT",
  "ALTER TABLE access_tokens ADD COLUMN scope TEXT",
  "ALTER TABLE webhooks ADD COLUMN hears_alerts INTEGER NOT NULL DEFAULT 1",
];

/**
 * Which terms the user accepted with a grant. Grants from before, and those of nodes that don't know this step, have
 * none. `required_terms_ms` is the date of the last version of a tenant's terms that must be accepted, and
 * `terms_deadline_ms` is when refreshes of grants with older terms end.
 */
export const acceptedTerms: Step = ({ integer }) => [
  ...["codes", "grants"].flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN terms_version TEXT`,
    `ALTER TABLE ${table} ADD COLUMN terms_ms ${integer}`,
  ]),
  `ALTER TABLE tenants ADD COLUMN required_terms_ms ${integer}`,
  `ALTER TABLE tenants ADD COLUMN terms_deadline_ms ${integer}`,
];

/** The tokens of one grant: a user can have many grants, and a grant keeps its replaced refresh tokens. */
export const accessTokensOfGrant: Step = { index: "access_tokens_of_grant", on: "access_tokens (owner_id, grant_id)" };
export const refreshTokensOfGrant: Step = {
  index: "refresh_tokens_of_grant",
  on: "refresh_tokens (owner_id, grant_id)",
};

/**
 * The entries of a user, of a client and of an operator in the audit log, which pages of the console read. On PostgreSQL
 * the primary key of the table begins with the owner.
 */
export const auditOfOwner: Step = ({ dialect }) =>
  dialect === "sqlite" ? ["CREATE INDEX audit_of_owner ON audit (owner_id, id)"] : [];
export const auditOfClient: Step = {
  index: "audit_of_client",
  on: "audit (client_id, id) WHERE client_id IS NOT NULL",
};
export const auditOfOperator: Step = {
  index: "audit_of_operator",
  on: "audit (operator, id) WHERE operator IS NOT NULL",
};
