import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { send } from "../../events/made-home.ts";
import { type MadeClient, oauthWorld } from "../../oauth/oauth-world.ts";

describe("settled: scopes of clients registered from now on", () => {
  it("are all without scope, devices:read for unknown words alone, and else the known words; older clients keep everything", async (t) => {
    const world = await oauthWorld(t);
    const tokens = async (client: MadeClient, scope?: string) =>
      (await world.exchange(await world.code({ client_id: client.id, scope }), client)).body;
    const command = { trait: "thermostat", command: "setTarget", params: { celsius: 20 } };
    /** The statuses of a read, a list of alerts, and a command. A permitted command does not find its thing. */
    const statuses = async (token: string) => [
      (await world.get("/v3/users", token)).status,
      (await world.get("/v3/alerts", token)).status,
      (await send(`${world.baseUrl}/v3/things/unknown/commands`, token, "POST", command)).status,
    ];
    const older = await world.addOlderClient();
    const cases: readonly (readonly [MadeClient, string | undefined, string | undefined, readonly number[]])[] = [
      [world.client, undefined, undefined, [200, 200, 404]],
      [world.client, "openid profile", "devices:read", [200, 403, 403]],
      [world.client, "alerts openid", "alerts", [403, 200, 403]],
      [older, undefined, undefined, [200, 200, 403]],
      [older, "openid profile", undefined, [200, 200, 403]],
      [older, "alerts", "alerts", [403, 200, 403]],
    ];
    for (const [client, scope, granted, expected] of cases) {
      const body = await tokens(client, scope);
      assert.equal(body.scope, granted);
      assert.deepEqual(await statuses(body.access_token), expected, `${scope}`);
    }
  });
});
