import { chmodSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Breezeway, OAuthClient } from "../sdk/src/index.ts";
import { Conflict } from "../src/model/errors.ts";
import type { TenantId, UserId } from "../src/model/ids.ts";
import type { Service } from "../src/service/service.ts";

export const tenantName = "Demo";
export const login = { name: "demo", password: "maple-street" };
const clientName = "Demo client";
/** Before a token's hour is over, so that those in the files always work. */
const renewEveryMs = 30 * 60_000;

/** The files in which the demo's tokens lie ready. */
export interface KeyFiles {
  readonly secTokenFile: string;
  readonly accessTokenFile: string;
  stop(): void;
}

export interface Keys extends KeyFiles {
  readonly appId: TenantId;
  readonly userId: UserId;
  /** The service as the demo's user calls it, with the newest secToken. */
  byUser(): Breezeway;
  /** The service as the demo's enterprise client calls it, with the newest access token. Nothing is retried. */
  readonly byClient: Breezeway;
}

/** The demo's tenant, user and client, made where they are missing, with tokens that are renewed as long as it runs. */
export async function keysOf(service: Service, folder: string): Promise<Keys> {
  const { identity, store } = service.parts;
  const { tenantId: appId } = await identity
    .addTenant({ name: tenantName })
    .catch((error) => (error instanceof Conflict ? identity.findTenant(tenantName) : Promise.reject(error)));
  await identity.addUser({ tenant: tenantName, ...login, isAdmin: false }).catch((error) => {
    if (!(error instanceof Conflict)) throw error;
  });
  const secTokenFile = join(folder, "demo-sec-token");
  const accessTokenFile = join(folder, "demo-access-token");
  const { baseUrl } = service;
  const client = await clientOf(service, appId);
  let secToken = "";
  let accessToken = "";
  const renew = async () => {
    const signedIn = await new Breezeway({ baseUrl })
      .login({ ...login, appId })
      .catch(failedTo("The demo's user could not sign in"));
    secToken = keep(secTokenFile, signedIn.secToken);
    accessToken = keep(accessTokenFile, (await client.asItself()).accessToken);
    return signedIn.userId as UserId;
  };
  const userId = await renew();
  // The service refuses to serve this store to other machines: its password is public (service/demo-guard.ts).
  await store.transaction((tx) => tx.settings.getOrKeep("demo_user", String(userId)));
  const renewing = setInterval(() => void renew().catch(() => undefined), renewEveryMs).unref();
  return {
    appId,
    userId,
    secTokenFile,
    accessTokenFile,
    byUser: () => new Breezeway({ baseUrl, secToken }),
    byClient: new Breezeway({
      baseUrl,
      accessToken: { current: async () => accessToken, renewed: async () => undefined },
      retries: 0,
    }),
    stop: () => clearInterval(renewing),
  };
}

/** Says which step of the start failed, before the service's own sentence. */
export function failedTo(what: string): (error: unknown) => never {
  return (error) => {
    throw new Error(`${what}: ${error instanceof Error ? error.message : error}`, { cause: error });
  };
}

/** The demo's enterprise client. Its secret is not stored, so each start gives it a new one. */
async function clientOf({ baseUrl, parts: { oauth } }: Service, tenantId: TenantId): Promise<OAuthClient> {
  const known = (await oauth.listClients(tenantId)).find(({ name }) => name === clientName);
  const { client, secret } = known
    ? await oauth.rotateSecret(known.id, 0)
    : await oauth.addClient({
        tenant: String(tenantId),
        name: clientName,
        kind: "enterprise",
        redirectUris: [],
        requiresPkce: false,
      });
  return new OAuthClient({ baseUrl, clientId: client.id, clientSecret: secret });
}

/** Replaces the file atomically: a concurrent reader gets the old token or the new one, never a part of one. */
function keep(file: string, secret: string): string {
  writeFileSync(`${file}.new`, secret, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
  return secret;
}
