import { randomBytes } from "node:crypto";
import type { FailureLimits } from "../identity/failure-limits.ts";
import { endGrants, endMostGrants, type GrantEnding } from "../identity/grants.ts";
import { checkNewName, readName } from "../identity/names.ts";
import { hashOf, isSame, newSecret } from "../identity/secrets.ts";
import { announceSuspension, type HeldTables, releaseOfClient, type Suspended } from "../identity/suspension.ts";
import type { Tenants } from "../identity/tenants.ts";
import { InvalidClient, NotFound, restOfChange } from "../model/errors.ts";
import type { TenantId } from "../model/ids.ts";
import { suspendedSentences } from "../model/suspension.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { ClientKind, ClientRow, ClientSecret } from "../store/tables/clients.ts";
import type { ScopeCount } from "../store/tables/grants.ts";
import { ClientCache } from "./client-cache.ts";
import { checkRedirectUris, checkReturnUrls } from "./registered-addresses.ts";

/** An OAuth client, which may ask the users of one tenant for access. */
export type Client = Omit<ClientRow, "secrets">;

export interface ClientCredentials {
  readonly clientId: string;
  readonly secret: string;
  /** The address of the caller. */
  readonly source: string;
  /** Aborts when the client disconnects. */
  readonly disconnected?: AbortSignal | undefined;
}

export interface NewClient {
  /** The tenant's name or id. */
  readonly tenant: string;
  readonly name: string;
  readonly kind: ClientKind;
  readonly redirectUris: readonly string[];
  readonly requiresPkce: boolean;
  /** Addresses to which link pages send users back; none by default. */
  readonly returnUrls?: readonly string[];
  /** The client has signed its users in itself, so that link pages do not ask them to; false by default. */
  readonly vouchesForUsers?: boolean;
  /** The redirect to the client carries `iss` (RFC 9207); true by default. */
  readonly sendsIssuer?: boolean;
}

/** Undefined members stay unchanged. */
export interface ClientChange {
  readonly name?: string | undefined;
  readonly redirectUris?: readonly string[] | undefined;
  readonly returnUrls?: readonly string[] | undefined;
  readonly vouchesForUsers?: boolean | undefined;
  readonly sendsIssuer?: boolean | undefined;
}

/** A client with its new secret, which is shown only this once. */
export interface ClientWithSecret {
  readonly client: Client;
  readonly secret: string;
}

export interface Clients {
  addClient(client: NewClient): Promise<ClientWithSecret>;
  /** Of one tenant, or of all. */
  listClients(tenantId?: TenantId): Promise<readonly Client[]>;
  /** Changes how a client is registered; what is left out stays. */
  editClient(clientId: string, change: ClientChange): Promise<Client>;
  /** Creates a new secret. The old one stays valid for `overlapMs`. */
  rotateSecret(clientId: string, overlapMs: number): Promise<ClientWithSecret>;
  /**
   * Refuses the client's secret and its tokens, ends its streams and holds the messages of its webhooks and assistants, on
   * every node. Nothing is deleted: `resumeClient` brings all of it back.
   */
  suspendClient(clientId: string): Promise<Client>;
  resumeClient(clientId: string): Promise<Client>;
  /**
   * Removes a client and ends all its grants; returns how many. The client is suspended first: after a crash it still
   * exists, suspended, and can be removed again. Rejects with OutcomeUnknown when the store fails after the suspension.
   */
  removeClient(clientId: string): Promise<{ readonly client: Client; readonly grants: number }>;
  findClient(clientId: string): Promise<Client | undefined>;
  /** The number of the client's grants by scope. */
  grantsByScope(clientId: string): Promise<readonly ScopeCount[]>;
  authenticateClient(credentials: ClientCredentials): Promise<Client>;
}

type ClientTables = HeldTables & Pick<Transaction, "clients" | "grants" | "codes" | "log" | "clock">;

export interface ClientParts {
  readonly store: Store<ClientTables>;
  readonly tenants: Pick<Tenants, "findTenant">;
  readonly limits: FailureLimits;
  readonly nowMs: () => number;
  readonly grantsEnded: (grantIds: readonly string[]) => void;
  /** Called when a suspension is durable. */
  readonly suspended: (suspended: Suspended) => void;
}

export function clientsOn({ store, tenants, limits, nowMs: nodeMs, grantsEnded, suspended }: ClientParts): Clients {
  const cache = new ClientCache({ store, nowMs: nodeMs });
  /** Changes a client under its lock, and drops it from the cache, also when the outcome is unknown. */
  const change = <Result>(clientId: string, body: (tx: ClientTables, client: ClientRow) => Promise<Result>) =>
    store
      .transaction(async (tx) => {
        const client = await tx.clients.lock(clientId);
        if (!client) throw unknownClient(clientId);
        return body(tx, client);
      })
      .finally(() => cache.forget(clientId));
  async function suspendClient(clientId: string): Promise<Client> {
    const client = await change(clientId, async (tx, row) => {
      if (row.suspendedMs !== null) return withoutSecrets(row);
      const suspendedMs = await tx.clock.nowMs();
      await tx.clients.setSuspended(clientId, suspendedMs);
      await announceSuspension(tx, { clientId });
      return { ...withoutSecrets(row), suspendedMs };
    });
    suspended({ clientId });
    return client;
  }
  return {
    async addClient(registration) {
      const { tenant, name: newName, kind, redirectUris, requiresPkce } = registration;
      const { returnUrls = [], vouchesForUsers = false, sendsIssuer = true } = registration;
      const name = checkNewName("name", readName("name", newName));
      checkRedirectUris(redirectUris, kind);
      checkReturnUrls(returnUrls);
      const { tenantId } = await tenants.findTenant(tenant);
      const secret = newSecret("bwcs_");
      const id = `bwc_${randomBytes(16).toString("base64url")}`;
      const registered = { name, redirectUris, returnUrls, vouchesForUsers, sendsIssuer };
      const client = { id, tenantId, kind, requiresPkce, ...registered, hasStrictScopes: true };
      return store.transaction(async (tx) => {
        await tx.clients.add({ ...client, secrets: [{ hash: hashOf(secret), endsMs: null }] });
        return { client: { ...client, createdMs: await tx.clock.nowMs(), suspendedMs: null }, secret };
      });
    },

    listClients: async (tenantId) => (await store.read((tx) => tx.clients.list(tenantId))).map(withoutSecrets),

    async editClient(clientId, wanted) {
      const newName = wanted.name === undefined ? undefined : readName("name", wanted.name);
      if (wanted.returnUrls) checkReturnUrls(wanted.returnUrls);
      return change(clientId, async (tx, client) => {
        if (wanted.redirectUris) checkRedirectUris(wanted.redirectUris, client.kind);
        const registered = {
          name: newName === undefined ? client.name : checkNewName("name", newName, client.name),
          redirectUris: wanted.redirectUris ?? client.redirectUris,
          returnUrls: wanted.returnUrls ?? client.returnUrls,
          vouchesForUsers: wanted.vouchesForUsers ?? client.vouchesForUsers,
          sendsIssuer: wanted.sendsIssuer ?? client.sendsIssuer,
        };
        await tx.clients.setRegistration(clientId, registered);
        return { ...withoutSecrets(client), ...registered };
      });
    },

    rotateSecret(clientId, overlapMs) {
      const secret = newSecret("bwcs_");
      return change(clientId, async (tx, client) => {
        const nowMs = await tx.clock.nowMs();
        // The newest secret stays valid for a while. An older one ends now, so that there are never more than two.
        const replaced = client.secrets.filter(({ endsMs }) => endsMs === null);
        const ending = overlapMs > 0 ? replaced.map(({ hash }) => ({ hash, endsMs: nowMs + overlapMs })) : [];
        await tx.clients.setSecrets(clientId, [{ hash: hashOf(secret), endsMs: null }, ...ending]);
        return { client: withoutSecrets(client), secret };
      });
    },

    suspendClient,

    async resumeClient(clientId) {
      const client = await change(clientId, async (tx, row) => {
        await tx.clients.setSuspended(clientId, null);
        return { ...withoutSecrets(row), suspendedMs: null };
      });
      await restOfChange(true, () => releaseOfClient(store, clientId));
      return client;
    },

    async removeClient(clientId) {
      // Many grants end in many transactions. The suspension ends their access at once.
      await suspendClient(clientId);
      const find: GrantEnding["find"] = (tx, limit) => tx.grants.ofClient(clientId, limit);
      return restOfChange(true, async () => {
        const before = await endMostGrants({ store, find, grantsEnded });
        const { client, ended } = await change(clientId, async (tx, client) => {
          const ended = await endGrants(tx, await tx.grants.ofClient(clientId));
          await tx.codes.removeOfClient(clientId);
          await tx.clients.remove(clientId);
          return { client: withoutSecrets(client), ended };
        });
        grantsEnded(ended);
        return { client, grants: before.length + ended.length };
      });
    },

    async findClient(clientId) {
      const row = await store.read((tx) => tx.clients.byId(clientId));
      return row && withoutSecrets(row);
    },

    grantsByScope: (clientId) => store.read((tx) => tx.grants.countByScope(clientId)),

    async authenticateClient({ clientId, secret, source, disconnected }) {
      const check = async () => {
        const { row, nowMs } = await cache.find(clientId);
        const isRight = matches(row?.secrets ?? dummySecrets, secret, nowMs);
        return row && isRight ? withoutSecrets(row) : undefined;
      };
      const client = await limits.attempt(clientId, source, check, disconnected);
      if (!client) throw new InvalidClient();
      if (client.suspendedMs !== null) throw new InvalidClient(suspendedSentences.client);
      return client;
    },
  };
}

/** Compared with the secret of an unknown client, so that the time reveals nothing. */
const dummySecrets: readonly ClientSecret[] = [{ hash: hashOf(newSecret("")), endsMs: null }];

/** Compares with all secrets, without an early exit, so that the time reveals nothing. */
function matches(secrets: readonly ClientSecret[], sent: string, nowMs: number): boolean {
  const hash = hashOf(sent);
  return (
    secrets.filter((secret) => isSame(secret.hash, hash) && (secret.endsMs === null || nowMs < secret.endsMs)).length >
    0
  );
}

function unknownClient(clientId: string): NotFound {
  return new NotFound(`There is no client ${clientId}. See all with: breezeway client list`);
}

function withoutSecrets({ secrets: _, ...client }: ClientRow): Client {
  return client;
}
