import { randomUUID } from "node:crypto";
import { hashOf, keyOf, newOwnedSecret } from "../src/identity/secrets.ts";
import type { TenantId, UserId } from "../src/model/ids.ts";
import type { Parts } from "../src/service/parts.ts";
import type { Transaction } from "../src/store/seam.ts";
import { formRequest } from "./requests.ts";

const redirectUri = "http://127.0.0.1:9/callback";

/** A client with grants of users, and its credentials for the token endpoint. */
export interface GrantedClient {
  readonly tenantId: TenantId;
  readonly credentials: { readonly client_id: string; readonly client_secret: string };
}

export async function addClient({ oauth }: Pick<Parts, "oauth">, tenantId: TenantId): Promise<GrantedClient> {
  const { client, secret } = await oauth.addClient({
    tenant: String(tenantId),
    name: "Bench",
    kind: "user",
    redirectUris: [redirectUri],
    requiresPkce: false,
  });
  return { tenantId, credentials: { client_id: client.id, client_secret: secret } };
}

/** The client's requests for tokens. */
export function tokenRequests({ credentials }: GrantedClient) {
  const path = "/oauth2/access_token";
  return {
    exchange: (code: string) =>
      formRequest(path, { grant_type: "authorization_code", code, redirect_uri: redirectUri, ...credentials }),
    refresh: (refreshToken: string) =>
      formRequest(path, { grant_type: "refresh_token", refresh_token: refreshToken, ...credentials }),
  };
}

/** Longer than a measurement. A code of the service is valid for only 60 seconds. */
const lifetimeMs = 3_600_000;

type Tables = Pick<Transaction, "codes" | "grants" | "accessTokens" | "refreshTokens" | "clock">;

/** Adds an unused authorization code, as after the user's consent. */
export async function addCode(tx: Tables, { credentials }: GrantedClient, userId: UserId): Promise<string> {
  const code = newOwnedSecret("", userId);
  await tx.codes.add({
    hash: hashOf(code),
    clientId: credentials.client_id,
    userId,
    redirectUri,
    isRedirectUriSent: true,
    challenge: null,
    expiresMs: (await tx.clock.nowMs()) + lifetimeMs,
  });
  return code;
}

/** Adds a grant with its first pair of tokens, as after the exchange of a code. */
export async function addGrant(tx: Tables, { tenantId, credentials }: GrantedClient, userId: UserId, scope?: string) {
  const grantId = randomUUID();
  const accessToken = newOwnedSecret("bwa_", userId);
  const refreshToken = newOwnedSecret("bwr_", userId);
  const issuedMs = await tx.clock.nowMs();
  const expiresMs = issuedMs + lifetimeMs;
  await tx.grants.add({
    id: grantId,
    tenantId,
    userId,
    clientId: credentials.client_id,
    covers: "user",
    ...(scope && { scope }),
  });
  await tx.accessTokens.add(keyOf(accessToken), grantId, expiresMs);
  await tx.refreshTokens.add({ ...keyOf(refreshToken), grantId, parentHash: null, issuedMs, expiresMs });
  return { accessToken, refreshToken };
}
