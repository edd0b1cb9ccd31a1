import assert from "node:assert/strict";
import { hashOf } from "../../src/identity/secrets.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import type { Service } from "../../src/service/service.ts";
import { ScriptedBrowser } from "../oauth/scripted-browser.ts";
import type { ShownDevice } from "./platform-client.ts";

export const callback = "http://127.0.0.1:9/callback";

export interface ShownAttribute {
  readonly value: string | number | null;
  readonly updateTime: number;
}

export interface V3Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
  readonly body: any;
}

/** A client of /v3, written from the interface alone. */
export class V3Client {
  readonly #baseUrl: () => string;
  readonly #accessToken: string;

  constructor(baseUrl: () => string, accessToken: string) {
    this.#baseUrl = baseUrl;
    this.#accessToken = accessToken;
  }

  get accessToken(): string {
    return this.#accessToken;
  }

  /** The same client with the address of another node. */
  at(baseUrl: string): V3Client {
    return new V3Client(() => baseUrl, this.#accessToken);
  }

  async call(path: string, init: RequestInit = {}): Promise<V3Answer> {
    const { status, text } = await this.text(path, init);
    return { status, body: JSON.parse(text) };
  }

  /** The answer as text, which may have several lines of JSON. */
  async text(path: string, init: RequestInit): Promise<{ readonly status: number; readonly text: string }> {
    const headers = { ...init.headers, authorization: `Bearer ${this.#accessToken}` };
    const answer = await fetch(`${this.#baseUrl()}/v3${path}`, { ...init, headers });
    return { status: answer.status, text: await answer.text() };
  }

  /** Repeats a write that a busy database has refused: `store_unavailable` says that nothing was changed. */
  async write(deviceId: DeviceId, values: object): Promise<void> {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify(values);
    for (let tries = 1; ; tries++) {
      const answer = await this.call(`/devices/${deviceId}`, { method: "PUT", headers, body });
      if (answer.status === 503 && answer.body.error === "store_unavailable" && tries < 5) continue;
      assert.deepEqual(answer, { status: 200, body: { status: "OK" } });
      return;
    }
  }

  async device(deviceId: DeviceId, query: Readonly<Record<string, string>> = {}) {
    const { status, body } = await this.call(`/devices/${deviceId}?${new URLSearchParams(query)}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }

  async attributes(deviceId: DeviceId, query: Readonly<Record<string, string>> = {}) {
    return (await this.device(deviceId, query)).attributes as Readonly<Record<string, ShownAttribute>>;
  }

  /** A page of the device list, and the cursor of the next page. */
  async page(query: Readonly<Record<string, string>>) {
    const { status, body } = await this.call(`/devices?${new URLSearchParams(query)}`);
    assert.equal(status, 200, JSON.stringify(body));
    const ids: DeviceId[] = body.devices.map(({ deviceId }: { deviceId: DeviceId }) => deviceId);
    return { ids, cursor: body.cursor as string | undefined };
  }
}

/** A client of the tenant with a user's consent. */
export async function clientOfUser(
  service: () => Service,
  tenant: string,
  person: { readonly name: string; readonly password: string },
  scope?: string,
): Promise<V3Client> {
  return authorize(() => service().baseUrl, await addClient(service(), tenant, "user"), person, scope);
}

/** A client as a version with other rules for scopes has registered it. */
export async function addOlderClient({ parts }: Service, tenant: string) {
  const [id, secret] = ["bwc_older", "older secret"];
  const { tenantId } = await parts.identity.findTenant(tenant);
  const redirectUris = ["https://client.example/back"];
  const registered = { id, tenantId, name: "Older", kind: "user", redirectUris, requiresPkce: false } as const;
  const secrets = [{ hash: hashOf(secret), endsMs: null }];
  await parts.store.transaction((tx) => tx.clients.add({ ...registered, secrets }));
  return { client_id: id, client_secret: secret };
}

/** Gets a user's consent for an existing client, and exchanges the code. */
export async function authorize(
  baseUrl: () => string,
  credentials: { readonly client_id: string; readonly client_secret: string },
  person: { readonly name: string; readonly password: string },
  scope?: string,
): Promise<V3Client> {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: credentials.client_id,
    state: "s",
    ...(scope !== undefined && { scope }),
  });
  const address = `${baseUrl()}/oauth2/authorize?${query}`;
  const returned = await new ScriptedBrowser(baseUrl).authorize(address, person);
  const code = returned.searchParams.get("code") ?? "";
  return new V3Client(baseUrl, await tokenFor(baseUrl(), { ...credentials, grant_type: "authorization_code", code }));
}

/** An enterprise client, which acts for the whole tenant. */
export async function clientOfTenant(service: () => Service, tenant: string): Promise<V3Client> {
  const baseUrl = () => service().baseUrl;
  const credentials = await addClient(service(), tenant, "enterprise");
  return new V3Client(baseUrl, await tokenFor(baseUrl(), { ...credentials, grant_type: "client_credentials" }));
}

/** The attributes in the form of the platform client: all values as text. */
export function asPlatformDevice({ attributes, presenceInfo, deviceTypeName }: V3Answer["body"]): ShownDevice {
  const entries = Object.entries<ShownAttribute>(attributes);
  return {
    presenceInfo: String(presenceInfo),
    typeName: deviceTypeName,
    attributes: new Map(
      entries.map(([name, { value, updateTime }]) => [name, { value: String(value), updTime: updateTime }]),
    ),
  };
}

async function addClient(service: Service, tenant: string, kind: "user" | "enterprise") {
  const { oauth } = service.parts;
  const registration = { tenant, name: "Story", kind, redirectUris: [callback], requiresPkce: false };
  const { client, secret } = await oauth.addClient(registration);
  return { client_id: client.id, client_secret: secret };
}

export async function tokenFor(baseUrl: string, request: Readonly<Record<string, string>>): Promise<string> {
  const body = new URLSearchParams(request);
  const answer = await fetch(`${baseUrl}/oauth2/access_token`, { method: "POST", body });
  const { access_token } = (await answer.json()) as { access_token?: string };
  assert.ok(access_token, `no access token: ${answer.status}`);
  return access_token;
}
