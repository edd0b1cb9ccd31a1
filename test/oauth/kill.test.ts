import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { readConfig } from "../../src/config/config.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts } from "../../src/service/parts.ts";
import { rounds } from "../set-up/extent.ts";
import { killableDeployment } from "../stories/killable-deployment.ts";
import { type Deployment, longSuiteOn, person } from "../stories/world.ts";
import { callback, type Tokens } from "./oauth-world.ts";
import { ScriptedBrowser } from "./scripted-browser.ts";

const kills = rounds({ all: 5, few: 1 });
const clients = 4;

for (const database of longSuiteOn("sqlite")) {
  describe(`an authorization server on ${database} that is killed`, () => {
    it("keeps every issued token and every revocation that it answered", { timeout: 120_000 }, async (t) => {
      const server = await killableServer(t, database);
      await server.start();
      const links = await Promise.all(Array.from({ length: clients }, () => server.link()));
      const answered: Tokens[] = links.map(({ tokens }) => tokens);
      const revoked: Tokens[] = [];
      for (let round = 1; round <= kills; round++) {
        const doomed = await server.link();
        assert.equal(await server.revoke(doomed.tokens.refresh_token), 200);
        revoked.push(doomed.tokens);
        // All clients refresh during the kill, which comes each time after another number of answers.
        let answers = 0;
        let killed: Promise<void> | undefined;
        const refreshing = links.map(async (link) => {
          // On several nodes the others still answer refreshes for a while.
          while (database !== "three nodes" || answers < 9 * round) {
            const answer = await server.refresh(link.tokens.refresh_token).catch(() => undefined);
            if (!answer && database !== "three nodes") return;
            if (!answer) continue;
            assert.equal(answer.status, 200, "a link was refused");
            link.tokens = answer.body;
            answered.push(answer.body);
            if (++answers === 3 * round) killed = server.kill();
          }
        });
        await Promise.all(refreshing);
        await killed;

        await server.start();
        for (const { access_token } of answered) assert.equal(await server.statusWith(access_token), 200);
        for (const { access_token, refresh_token } of revoked) {
          assert.equal(await server.statusWith(access_token), 401);
          assert.equal((await server.refresh(refresh_token)).status, 400);
        }
      }
      // A code that was exchanged before a kill is redeemed: using it again ends its grant.
      const [first, ...others] = links;
      assert.equal((await server.exchange(first!.code)).status, 400);
      assert.equal((await server.refresh(first!.tokens.refresh_token)).status, 400);
      for (const { tokens } of others) assert.equal((await server.refresh(tokens.refresh_token)).status, 200);
    });
  });
}

/** A service in its own process, with a user and a client, which the test kills and restarts. */
async function killableServer(test: TestContext, database: Deployment) {
  const house = await killableDeployment(test, database);
  const config = readConfig({ flags: {}, environment: house.environment });
  const parts = await openParts(config, startLogging("silent"));
  const { client, secret } = await parts.oauth.addClient({
    tenant: "Story",
    name: "Voice",
    kind: "user",
    redirectUris: [callback],
    requiresPkce: false,
  });
  await parts.close();
  const { nodes } = house;

  const post = async (path: string, form: Readonly<Record<string, string>>) => {
    const body = new URLSearchParams({ client_id: client.id, client_secret: secret, ...form });
    const answer = await fetch(`${house.baseUrl}${path}`, { method: "POST", body });
    return { status: answer.status, body: (await answer.json()) as Tokens };
  };
  const exchange = (code: string) => post("/oauth2/access_token", { grant_type: "authorization_code", code });
  return {
    start: () => nodes.start(),
    kill: () => nodes.kill(),
    exchange,
    refresh: (token: string) => post("/oauth2/access_token", { grant_type: "refresh_token", refresh_token: token }),
    revoke: async (token: string) => (await post("/oauth2/revoke_token", { token, token_type_hint: "" })).status,
    async statusWith(accessToken: string) {
      const answer = await fetch(`${house.baseUrl}/v3/users`, { headers: { authorization: `Bearer ${accessToken}` } });
      await answer.arrayBuffer();
      return answer.status;
    },
    async link() {
      const query = new URLSearchParams({ response_type: "code", client_id: client.id, state: "s-1" });
      const browser = new ScriptedBrowser(() => house.baseUrl);
      const back = await browser.authorize(`/oauth2/authorize?${query}`, person);
      const code = back.searchParams.get("code")!;
      const { status, body } = await exchange(code);
      assert.equal(status, 200);
      return { code, tokens: body };
    },
  };
}
