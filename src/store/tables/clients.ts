import type { TenantId } from "../../model/ids.ts";
import { first, isStorable, type Sql } from "../sql.ts";

export type ClientKind = "user" | "enterprise";

/** An OAuth client. During a rotation two secrets are valid; only their hashes are stored. */
export interface ClientRow {
  readonly id: string;
  readonly tenantId: TenantId;
  readonly name: string;
  readonly kind: ClientKind;
  readonly redirectUris: readonly string[];
  readonly requiresPkce: boolean;
  /** Addresses to which link pages send users back. */
  readonly returnUrls: readonly string[];
  /** The client has signed its users in itself: link pages do not ask them to. */
  readonly vouchesForUsers: boolean;
  /** A request without a known scope does not get everything (model/scopes.ts). False for clients of earlier versions. */
  readonly hasStrictScopes: boolean;
  /** The redirect to the client carries `iss` (RFC 9207). */
  readonly sendsIssuer: boolean;
  readonly secrets: readonly ClientSecret[];
  readonly createdMs: number;
  /** Since when the client is suspended; null: not at all. */
  readonly suspendedMs: number | null;
}

export interface ClientSecret {
  readonly hash: string;
  /** Null: valid until it is replaced. */
  readonly endsMs: number | null;
}

type Registered = "name" | "redirectUris" | "returnUrls" | "vouchesForUsers" | "sendsIssuer";
type Optional = "returnUrls" | "vouchesForUsers" | "sendsIssuer" | "hasStrictScopes";

export interface ClientTable {
  /** Without return addresses, not vouching, with `iss`, and with the scopes of earlier versions, by default. */
  add(
    client: Omit<ClientRow, "createdMs" | "suspendedMs" | Optional> & Partial<Pick<ClientRow, Optional>>,
  ): Promise<void>;
  byId(id: string): Promise<ClientRow | undefined>;
  /** Of one tenant, or of all. */
  list(tenantId?: TenantId): Promise<ClientRow[]>;
  /** These clients with their names and tenants, by id. Clients that do not exist are left out. */
  some(ids: readonly string[]): Promise<Pick<ClientRow, "id" | "tenantId" | "name">[]>;
  /** Reads the client and locks it exclusively until the transaction ends, to change or remove it. */
  lock(id: string): Promise<ClientRow | undefined>;
  /** Takes a shared lock until the transaction ends, so that the client can't be removed. Returns whether it exists. */
  hold(id: string): Promise<boolean>;
  setSecrets(id: string, secrets: readonly ClientSecret[]): Promise<void>;
  setRegistration(id: string, registered: Pick<ClientRow, Registered>): Promise<void>;
  setSuspended(id: string, sinceMs: number | null): Promise<void>;
  remove(id: string): Promise<void>;
}

const columns = `id, tenant_id AS "tenantId", name, kind, redirect_uris AS "redirectUris",
  requires_pkce AS "requiresPkce", return_urls AS "returnUrls", vouches_for_users AS "vouchesForUsers",
  has_strict_scopes AS "hasStrictScopes", sends_issuer AS "sendsIssuer", secrets, created_ms AS "createdMs", suspended_ms AS "suspendedMs"`;

type StoredClient = Omit<ClientRow, "redirectUris" | "requiresPkce" | Optional | "secrets"> & {
  readonly redirectUris: string;
  readonly requiresPkce: number;
  readonly returnUrls: string | null;
  readonly vouchesForUsers: number;
  readonly hasStrictScopes: number;
  readonly sendsIssuer: number;
  readonly secrets: string;
};

export function clientTable(sql: Sql): ClientTable {
  const rows = async (tail: string, parameters: readonly (string | number)[] = []) =>
    (await sql.all<StoredClient>(`SELECT ${columns} FROM clients ${tail}`, parameters)).map(fromStored);
  return {
    async add({ id, tenantId, name, kind, redirectUris, requiresPkce, secrets, ...more }) {
      const { returnUrls = [], vouchesForUsers = false, hasStrictScopes = false, sendsIssuer = true } = more;
      await sql.run(
        `INSERT INTO clients (id, tenant_id, name, kind, redirect_uris, requires_pkce, return_urls, vouches_for_users,
           has_strict_scopes, sends_issuer, secrets, created_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
        [
          id,
          tenantId,
          name,
          kind,
          JSON.stringify(redirectUris),
          requiresPkce ? 1 : 0,
          JSON.stringify(returnUrls),
          vouchesForUsers ? 1 : 0,
          hasStrictScopes ? 1 : 0,
          sendsIssuer ? 1 : 0,
          JSON.stringify(secrets),
          await sql.nowMs(),
        ],
      );
    },
    // No client has an id that can't be stored.
    byId: async (id) => (isStorable(id) ? first(rows("WHERE id = $1", [id])) : undefined),
    list: (tenantId) =>
      tenantId === undefined
        ? rows("ORDER BY tenant_id, created_ms, id")
        : rows("WHERE tenant_id = $1 ORDER BY created_ms, id", [tenantId]),
    some(ids) {
      const among = sql.dialect === "postgres" ? "= ANY($1::text[])" : "IN (SELECT value FROM json_each($1))";
      const select = `SELECT id, tenant_id AS "tenantId", name FROM clients WHERE id ${among} ORDER BY id`;
      return sql.all(select, [ids.filter(isStorable)]);
    },
    lock: async (id) =>
      isStorable(id) ? first(rows(`WHERE id = $1${sql.dialect === "postgres" ? " FOR UPDATE" : ""}`, [id])) : undefined,
    async hold(id) {
      const sharedLock = sql.dialect === "postgres" ? " FOR KEY SHARE" : "";
      return (await sql.all(`SELECT id FROM clients WHERE id = $1${sharedLock}`, [id])).length > 0;
    },
    async setSecrets(id, secrets) {
      await sql.run("UPDATE clients SET secrets = $2 WHERE id = $1", [id, JSON.stringify(secrets)]);
    },
    async setRegistration(id, { name, redirectUris, returnUrls, vouchesForUsers, sendsIssuer }) {
      const addresses = [JSON.stringify(redirectUris), JSON.stringify(returnUrls)];
      await sql.run(
        `UPDATE clients SET name = $2, redirect_uris = $3, return_urls = $4, vouches_for_users = $5, sends_issuer = $6
         WHERE id = $1`,
        [id, name, ...addresses, vouchesForUsers ? 1 : 0, sendsIssuer ? 1 : 0],
      );
    },
    async setSuspended(id, sinceMs) {
      await sql.run("UPDATE clients SET suspended_ms = $2 WHERE id = $1", [id, sinceMs]);
    },
    async remove(id) {
      await sql.run("DELETE FROM quotas WHERE client_id = $1", [id]);
      await sql.run("DELETE FROM clients WHERE id = $1", [id]);
    },
  };
}

function fromStored({
  redirectUris,
  requiresPkce,
  returnUrls,
  vouchesForUsers,
  hasStrictScopes,
  sendsIssuer,
  secrets,
  ...row
}: StoredClient): ClientRow {
  return {
    ...row,
    redirectUris: JSON.parse(redirectUris) as string[],
    requiresPkce: Boolean(requiresPkce),
    returnUrls: returnUrls === null ? [] : (JSON.parse(returnUrls) as string[]),
    vouchesForUsers: Boolean(vouchesForUsers),
    hasStrictScopes: Boolean(hasStrictScopes),
    sendsIssuer: Boolean(sendsIssuer),
    secrets: JSON.parse(secrets) as ClientSecret[],
  };
}
