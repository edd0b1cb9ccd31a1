import type { TestContext } from "node:test";
import { type OAuthWorldPlan, oauthWorld, type Tokens } from "../oauth/oauth-world.ts";

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
  readonly body: any;
}

/** The real service, and an enterprise client of the tenant Acme with users ada and bob. */
export async function provisioningWorld(test: TestContext, plan: OAuthWorldPlan = {}) {
  const world = await oauthWorld(test, plan);
  const enterpriseToken = async (tenant: string): Promise<string> => {
    const { id, secret } = await world.addClient({ tenant, kind: "enterprise" });
    const form = { grant_type: "client_credentials", client_id: id, client_secret: secret };
    return ((await world.post("/oauth2/access_token", form)).body as Tokens).access_token;
  };
  const acme = await enterpriseToken("Acme");
  const send = async (
    method: string,
    path: string,
    { json, token = acme, key, ...init }: RequestInit & { json?: unknown; token?: string; key?: string } = {},
  ): Promise<Answered> => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${token}`);
    if (key !== undefined) headers.set("idempotency-key", key);
    if (json !== undefined) headers.set("content-type", "application/json");
    const body = json === undefined ? init.body : JSON.stringify(json);
    const answer = await fetch(`${world.baseUrl}${path}`, { ...init, method, headers, ...(body && { body }) });
    const text = await answer.text();
    const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
  const lamp = (change: object = {}) => ({
    userId: world.userId,
    deviceTypeName: "Lamp",
    deviceName: "Hall lamp",
    ...change,
  });
  const devicesOf = (userId = world.userId) => world.service.parts.store.read((tx) => tx.devices.ofUser(userId));
  const logOf = (deviceId: number, userId = world.userId) =>
    world.service.parts.store.read(async (tx) =>
      (await tx.log.ofDevice(userId, deviceId as never)).map(({ kind, body }) => [kind, JSON.parse(body)] as const),
    );
  return { world, acme, enterpriseToken, send, lamp, devicesOf, logOf };
}
