import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { inspect } from "node:util";
import { ada, type OAuthWorld, oauthWorld } from "../oauth-world.ts";

// biome-ignore lint/suspicious/noExplicitAny: what a program without types hands out
export type AnyJson = any;

/** What one foreign program does with a link that it has got. */
export interface LinkedClient {
  /** The access token that it would use now. */
  accessToken(): string;
  refresh(): Promise<void>;
  revoke(): Promise<void>;
  /** A call by its own means; left out when it has none, and a plain request is made. */
  get?(path: string): Promise<{ readonly status: number; readonly body: AnyJson }>;
}

export interface ForeignWorld extends OAuthWorld {
  readonly lampId: number;
  readonly endpoints: Readonly<Record<"authorize" | "token" | "revoke", string>>;
  /** What ada's browser brings back to the client from the address that the client has sent it to. */
  visit(address: string | URL, decision?: "accept" | "decline"): Promise<URL>;
}

/** The service with ada and her lamp, as somebody sees it who wants to link her account. */
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

/** Calls, three refreshes with calls between, and the end of it all; every access token on the way counts. */
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
  await assert.rejects(client.refresh(), says("invalid_grant"));
}

/** Whether an error says so, in whatever way the program wraps what it was answered. */
export function says(code: string): (error: unknown) => boolean {
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
