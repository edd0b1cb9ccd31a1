import { chmodSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
  /** The newest of each. */
  secToken(): string;
  accessToken(): string;
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
  const newAccessToken = await clientOf(service, appId);
  let secToken = "";
  let accessToken = "";
  const renew = async () => {
    const signedIn = await signIn(service.baseUrl, appId);
    secToken = keep(secTokenFile, signedIn.secToken);
    accessToken = keep(accessTokenFile, await newAccessToken());
    return signedIn.userId;
  };
  const userId = await renew();
  // Whoever serves this store to others is told that its password is known (service.ts).
  await store.transaction((tx) => tx.settings.getOrKeep("demo_user", String(userId)));
  const renewing = setInterval(() => void renew().catch(() => undefined), renewEveryMs).unref();
  return {
    appId,
    userId,
    secTokenFile,
    accessTokenFile,
    secToken: () => secToken,
    accessToken: () => accessToken,
    stop: () => clearInterval(renewing),
  };
}

/** As any user of the platform does. */
async function signIn(baseUrl: string, appId: TenantId): Promise<{ userId: UserId; secToken: string }> {
  const body = new URLSearchParams({ ...login, appId: String(appId) });
  const answer = await fetch(`${baseUrl}/zdk/services/zamapi/userLogin`, { method: "POST", body, redirect: "error" });
  const text = await answer.text();
  const of = (element: string) => new RegExp(`<${element}>([^<]+)<`).exec(text)?.[1] ?? "";
  if (!answer.ok) throw new Error(`The demo's user could not sign in: ${of("errorMsg")}`);
  return { userId: Number(of("userId")) as UserId, secToken: of("securityToken") };
}

/** An enterprise client of the demo's tenant; what it answers gets an access token over HTTP, as any client would. */
async function clientOf({ baseUrl, parts: { oauth } }: Service, tenantId: TenantId): Promise<() => Promise<string>> {
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
  return async () => {
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: client.id,
      client_secret: secret,
    });
    const answer = await fetch(`${baseUrl}/oauth2/access_token`, { method: "POST", body, redirect: "error" });
    const { access_token: token } = (await answer.json()) as { access_token?: string };
    if (token === undefined) throw new Error(`The demo's client got no access token (${answer.status}).`);
    return token;
  };
}

/** In one step: whoever reads the file while it is renewed gets the old token or the new one, never half of one. */
function keep(file: string, secret: string): string {
  writeFileSync(`${file}.new`, secret, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
  return secret;
}
