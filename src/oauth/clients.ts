import { randomBytes } from "node:crypto";
import type { FailureLimits } from "../identity/failure-limits.ts";
import { endGrants } from "../identity/grants.ts";
import { checkNewName, readName } from "../identity/names.ts";
import { hashOf, isSame, newSecret } from "../identity/secrets.ts";
import type { Tenants } from "../identity/tenants.ts";
import { BadParameter, InvalidClient, NotFound } from "../model/errors.ts";
import type { TenantId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { ClientKind, ClientRow, ClientSecret } from "../store/tables/clients.ts";
import type { ScopeCount } from "../store/tables/grants.ts";
import { KnownClients } from "./known-clients.ts";

/** A cloud that may ask users of one tenant for access. */
export type Client = Omit<ClientRow, "secrets">;

export interface ClientCredentials {
  readonly clientId: string;
  readonly secret: string;
  /** The address the attempt comes from. */
  readonly source: string;
  /** Aborts when the client is gone. */
  readonly disconnected?: AbortSignal | undefined;
}

export interface NewClient {
  /** The tenant's name or id. */
  readonly tenant: string;
  readonly name: string;
  readonly kind: ClientKind;
  readonly redirectUris: readonly string[];
  readonly requiresPkce: boolean;
}

/** A client with its newest secret, which is shown this once. */
export interface ClientWithSecret {
  readonly client: Client;
  readonly secret: string;
}

export interface Clients {
  addClient(client: NewClient): Promise<ClientWithSecret>;
  /** Of one tenant, or of all. */
  listClients(tenantId?: TenantId): Promise<readonly Client[]>;
  /** The old secret works for so long beside the new one. */
  rotateSecret(clientId: string, overlapMs: number): Promise<ClientWithSecret>;
  /** Ends everything that was ever granted to it; answers how many grants there were. */
  removeClient(clientId: string): Promise<{ readonly client: Client; readonly grants: number }>;
  findClient(clientId: string): Promise<Client | undefined>;
  /** What the client was granted, counted by scope. */
  grantsByScope(clientId: string): Promise<readonly ScopeCount[]>;
  authenticateClient(credentials: ClientCredentials): Promise<Client>;
}

type ClientTables = Pick<Transaction, "clients" | "grants" | "codes" | "log" | "clock">;

export interface ClientParts {
  readonly store: Store<ClientTables>;
  readonly tenants: Pick<Tenants, "findTenant">;
  readonly limits: FailureLimits;
  readonly nowMs: () => number;
  readonly grantsEnded: (grantIds: readonly string[]) => void;
}

export function clientsOn({ store, tenants, limits, nowMs: ownMs, grantsEnded }: ClientParts): Clients {
  const known = new KnownClients({ store, nowMs: ownMs });
  /** Whatever becomes of it, what is remembered of the client doesn't count any more. */
  const change = <Result>(clientId: string, body: (tx: ClientTables, client: ClientRow) => Promise<Result>) =>
    store
      .transaction(async (tx) => {
        const client = await tx.clients.lock(clientId);
        if (!client) throw unknownClient(clientId);
        return body(tx, client);
      })
      .finally(() => known.forget(clientId));
  return {
    async addClient({ tenant, name: given, kind, redirectUris, requiresPkce }) {
      const name = checkNewName("name", readName("name", given));
      checkRedirectUris(redirectUris, kind);
      const { tenantId } = await tenants.findTenant(tenant);
      const secret = newSecret("bwcs_");
      const id = `bwc_${randomBytes(16).toString("base64url")}`;
      const client = { id, tenantId, name, kind, redirectUris, requiresPkce };
      return store.transaction(async (tx) => {
        await tx.clients.add({ ...client, secrets: [{ hash: hashOf(secret), endsMs: null }] });
        return { client: { ...client, createdMs: await tx.clock.nowMs() }, secret };
      });
    },

    listClients: async (tenantId) => (await store.read((tx) => tx.clients.list(tenantId))).map(withoutSecrets),

    rotateSecret(clientId, overlapMs) {
      const secret = newSecret("bwcs_");
      return change(clientId, async (tx, client) => {
        const nowMs = await tx.clock.nowMs();
        // The one that was newest goes on for a while; an older one than that ends now: never more than two.
        const replaced = client.secrets.filter(({ endsMs }) => endsMs === null);
        const ending = overlapMs > 0 ? replaced.map(({ hash }) => ({ hash, endsMs: nowMs + overlapMs })) : [];
        await tx.clients.setSecrets(clientId, [{ hash: hashOf(secret), endsMs: null }, ...ending]);
        return { client: withoutSecrets(client), secret };
      });
    },

    async removeClient(clientId) {
      const { client, ended } = await change(clientId, async (tx, client) => {
        const ended = await endGrants(tx, await tx.grants.ofClient(clientId));
        await tx.codes.removeOfClient(clientId);
        await tx.clients.remove(clientId);
        return { client: withoutSecrets(client), ended };
      });
      grantsEnded(ended);
      return { client, grants: ended.length };
    },

    async findClient(clientId) {
      const row = await store.read((tx) => tx.clients.byId(clientId));
      return row && withoutSecrets(row);
    },

    grantsByScope: (clientId) => store.read((tx) => tx.grants.countByScope(clientId)),

    async authenticateClient({ clientId, secret, source, disconnected }) {
      const check = async () => {
        const { row, nowMs } = await known.find(clientId);
        const isRight = fits(row?.secrets ?? nobodysSecrets, secret, nowMs);
        return row && isRight ? withoutSecrets(row) : undefined;
      };
      const client = await limits.attempt(clientId, source, check, disconnected);
      if (!client) throw new InvalidClient();
      return client;
    },
  };
}

/** What an unknown client's secret is compared with, so that the time tells nothing. */
const nobodysSecrets: readonly ClientSecret[] = [{ hash: hashOf(newSecret("")), endsMs: null }];

/** Looks at each, whichever fits. */
function fits(secrets: readonly ClientSecret[], sent: string, nowMs: number): boolean {
  const hash = hashOf(sent);
  return (
    secrets.filter((secret) => isSame(secret.hash, hash) && (secret.endsMs === null || nowMs < secret.endsMs)).length >
    0
  );
}

const longestUri = 2_000;
const mostUris = 20;

/** Absolute, without a fragment, https but for this very machine (RFC 6749 3.1.2; RFC 8252 7.3). */
function checkRedirectUris(uris: readonly string[], kind: ClientKind): void {
  const refuse = (sentence: string) => {
    throw new BadParameter("redirect-uri", sentence);
  };
  // An enterprise client may live on its secret alone.
  if (uris.length === 0 && kind === "user") refuse("A client needs at least one --redirect-uri.");
  if (uris.length > mostUris) refuse(`A client may have at most ${mostUris} redirect addresses.`);
  if (new Set(uris).size < uris.length) refuse("A redirect address was given twice.");
  for (const uri of uris) {
    const url = readStrictly(uri);
    if (!url || uri.length > longestUri) refuse("A redirect address must be an absolute address in ASCII characters.");
    else if (uri.includes("#")) refuse("A redirect address must have no fragment (#).");
    else if (url.username || url.password) refuse("A redirect address must hold no user name or password.");
    else if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
      refuse("A redirect address must begin with https:// (http:// only for 127.0.0.1, [::1] and localhost).");
    }
  }
}

/** Undefined when it isn't written as it would be understood: browsers tidy up, and then go elsewhere. */
function readStrictly(uri: string): URL | undefined {
  if (!/^[\x21-\x7e]+$/.test(uri) || /["<>\\^`{|}]/.test(uri) || !URL.canParse(uri)) return undefined;
  const url = new URL(uri);
  return uri.toLowerCase().startsWith(`${url.protocol}//${url.host}`) || url.username ? url : undefined;
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function unknownClient(clientId: string): NotFound {
  return new NotFound(`There is no client ${clientId}. See all with: breezeway client list`);
}

function withoutSecrets({ secrets: _, ...client }: ClientRow): Client {
  return client;
}
