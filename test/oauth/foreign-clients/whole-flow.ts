import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { inspect } from "node:util";
import { ada, type OAuthWorld, oauthWorld } from "../oauth-world.ts";

// biome-ignore lint/suspicious/noExplicitAny: what a program without types hands out
export type AnyJson = any;

/** What a foreign library can do with its tokens. */
export interface LinkedClient {
  /** The present access token. */
  accessToken(): string;
  refresh(): Promise<void>;
  revoke(): Promise<void>;
  /** A call with the library's own client. Without it, the test makes a plain request. */
  get?(path: string): Promise<{ readonly status: number; readonly body: AnyJson }>;
}

export interface ForeignWorld extends OAuthWorld {
  readonly lampId: number;
  readonly endpoints: Readonly<Record<"authorize" | "token" | "revoke", string>>;
  /** Opens the client's authorization address as ada, and returns the redirect to the client. */
  visit(address: string | URL, decision?: "accept" | "decline"): Promise<URL>;
}

/** The service with the user ada and her lamp. */
export async function foreignWorld(test: TestContext): Promise<ForeignWorld> {
  const world = await oauthWorld(test);
  const lampId = await world.addDevice(world.userId, "Desk lamp");
  return Object.assign(world, {
    lampId,
    endpoints: {
      authorize: `${world.baseUrl}/oauth2/authorize`,
      token: `${world.baseUrl}/oauth2/access_token`,
      revoke: `${world.baseUrl}/oauth2/revoke_token`,
    },
    async visit(address: string | URL, decision: "accept" | "decline" = "accept") {
      return world.browser().authorize(String(address), ada, decision);
    },
  });
}

/** Makes calls, refreshes three times with calls in between, then revokes. Every access token is checked. */
export async function assertLinkLives(world: ForeignWorld, client: LinkedClient): Promise<void> {
  const held = [client.accessToken()];
  await assertOpens(world, client);
  for (let round = 1; round <= 3; round++) {
    await client.refresh();
    assert.ok(!held.includes(client.accessToken()), `refresh ${round} gave an access token that was known`);
    held.push(client.accessToken());
    await assertOpens(world, client);
  }
  for (const accessToken of held) assert.equal(await world.statusWith(accessToken), 200, "it lives to its expiry");
  await client.revoke();
  for (const accessToken of held) assert.equal(await world.statusWith(accessToken), 401, "it ends with its grant");
  if (client.get) assert.equal((await client.get("/v3/users")).status, 401);
  await assert.rejects(client.refresh(), hasErrorText("invalid_grant"));
}

/** Whether an error contains this code, however the library wraps the answer. */
export function hasErrorText(code: string): (error: unknown) => boolean {
  return (error) => inspect(error, { depth: 10 }).includes(code);
}

async function assertOpens(world: ForeignWorld, client: LinkedClient): Promise<void> {
  const get = client.get?.bind(client) ?? ((path: string) => world.get(path, client.accessToken()));
  const users = await get("/v3/users");
  assert.deepEqual([users.status, users.body], [200, [world.userId]]);
  const { status, body } = await get("/v3/devices");
  assert.equal(status, 200);
  assert.deepEqual(
    body.devices.map(({ deviceId, deviceName }: AnyJson) => [deviceId, deviceName]),
    [[world.lampId, "Desk lamp"]],
  );
}
