import { chmodSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Breezeway, OAuthClient } from "../sdk/src/index.ts";
import { Conflict } from "../src/model/errors.ts";
import type { TenantId, UserId } from "../src/model/ids.ts";
import type { Service } from "../src/service/service.ts";

export const tenantName = "Demo";
/** The person who lives in the house. */
const resident = { name: "mia", password: "maple-street" };
const clientName = "Demo client";
/** Tokens live for an hour, so those in the files always work. */
const renewEveryMs = 30 * 60_000;

/** The files that hold the demo's tokens. */
export interface TokenFiles {
  readonly secTokenFile: string;
  readonly accessTokenFile: string;
  stop(): void;
}

export interface DemoAccess extends TokenFiles {
  readonly login: typeof resident;
  readonly appId: TenantId;
  readonly userId: UserId;
  /** An SDK client of the demo's user, with the newest secToken. */
  byUser(): Breezeway;
  /** An SDK client of the demo's enterprise client, with the newest access token. It retries nothing. */
  readonly byClient: Breezeway;
}

/** Creates the demo's tenant, user and client where they are missing, and renews their tokens while the demo runs. */
export async function accessTo(service: Service, folder: string): Promise<DemoAccess> {
  const { identity, store } = service.parts;
  const { tenantId: appId } = await identity
    .addTenant({ name: tenantName })
    .catch((error) => (error instanceof Conflict ? identity.findTenant(tenantName) : Promise.reject(error)));
  const login = { ...resident, name: await storedName(service) };
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
    secToken = writeAtomically(secTokenFile, signedIn.secToken);
    accessToken = writeAtomically(accessTokenFile, (await client.asItself()).accessToken);
    return signedIn.userId as UserId;
  };
  const userId = await renew();
  // The service refuses to serve this store to other machines: its password is public (service/demo-guard.ts).
  await store.transaction((tx) => tx.settings.getOrKeep(userSetting, String(userId)));
  const renewing = setInterval(() => void renew().catch(() => undefined), renewEveryMs).unref();
  return {
    login,
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

const userSetting = "demo_user";

/** In a folder of an earlier version the resident has another name. */
function storedName({ parts: { store } }: Service): Promise<string> {
  return store.read(async (tx) => {
    const userId = await tx.settings.get(userSetting);
    const user = userId === undefined ? undefined : await tx.users.byId(Number(userId) as UserId);
    return user?.name ?? resident.name;
  });
}

/** Puts the failed step of the start before the service's message. */
export function failedTo(step: string): (error: unknown) => never {
  return (error) => {
    throw new Error(`${step}: ${error instanceof Error ? error.message : error}`, { cause: error });
  };
}

/** The demo's enterprise client. Its secret is not stored, so each start rotates it. */
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
function writeAtomically(file: string, secret: string): string {
  writeFileSync(`${file}.new`, secret, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
  return secret;
}
