import assert from "node:assert/strict";
import type { DeviceId, TenantId, UserId } from "../../src/model/ids.ts";
import { ScriptedBrowser } from "../oauth/scripted-browser.ts";
import { PlatformClient } from "../stories/platform-client.ts";
import { callback } from "../stories/v3-client.ts";
import type { Fleet } from "./fleet.ts";

/** A user with access tokens, a secToken and lamps, which are valid at every node. */
export interface Guest {
  readonly name: string;
  readonly password: string;
  readonly tenantId: TenantId;
  readonly userId: UserId;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly secToken: string;
  /** A registered client and its secret. */
  readonly client: { readonly client_id: string; readonly client_secret: string };
  readonly devices: readonly DeviceId[];
}

/** Creates so many users with so many lamps each. Each step of signing in runs at the node that `baseUrl` returns. */
export async function inviteGuests(
  { parts }: Fleet,
  { people, lamps }: { readonly people: number; readonly lamps: number },
  baseUrl: () => string,
): Promise<readonly Guest[]> {
  const { identity, oauth, administration } = parts;
  const { tenantId, name: tenant } = await identity.addTenant({ name: "Guests" });
  const guests: Guest[] = [];
  for (let i = 1; i <= people; i++) {
    const wanted = {
      tenant,
      name: `Remote ${i}`,
      kind: "user",
      redirectUris: [callback],
      requiresPkce: false,
    } as const;
    const made = await oauth.addClient(wanted);
    const client = { client_id: made.client.id, client_secret: made.secret };
    const person = { name: `guest ${i}`, password: "a good password" };
    const userId = await identity.addUser({ tenant, ...person, isAdmin: false });
    const devices: DeviceId[] = [];
    for (let n = 1; n <= lamps; n++) {
      const added = await administration.run("device add", { user: String(userId), name: `Lamp ${n}`, type: "Lamp" });
      devices.push((added as { readonly deviceId: DeviceId }).deviceId);
    }
    const platform = new PlatformClient(baseUrl);
    await platform.login(person.name, person.password, tenantId);
    const { secToken } = platform;
    guests.push({
      ...person,
      tenantId,
      userId,
      client,
      devices,
      secToken,
      ...(await authorize(baseUrl, client, person)),
    });
  }
  return guests;
}

/** A user accepts a client, which then gets its tokens. */
export async function authorize(
  baseUrl: () => string,
  client: Guest["client"],
  person: Pick<Guest, "name" | "password">,
): Promise<Pick<Guest, "accessToken" | "refreshToken">> {
  const question = new URLSearchParams({ response_type: "code", client_id: client.client_id, state: "s" });
  const returned = await new ScriptedBrowser(baseUrl).authorize(`/oauth2/authorize?${question}`, person);
  const code = returned.searchParams.get("code") ?? "";
  return tokensFor(baseUrl(), { ...client, grant_type: "authorization_code", code });
}

export async function tokensFor(
  baseUrl: string,
  request: Readonly<Record<string, string>>,
): Promise<Pick<Guest, "accessToken" | "refreshToken">> {
  const answer = await fetch(`${baseUrl}/oauth2/access_token`, { method: "POST", body: new URLSearchParams(request) });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  const { access_token, refresh_token } = JSON.parse(text);
  return { accessToken: access_token, refreshToken: refresh_token };
}
