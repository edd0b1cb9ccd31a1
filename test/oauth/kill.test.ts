import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { readConfig } from "../../src/config.ts";
import { startLogging } from "../../src/logging.ts";
import { openParts } from "../../src/service.ts";
import { startChild } from "../stories/child-service.ts";
import { killableHouse } from "../stories/killable-house.ts";
import { type Database, databases, person } from "../stories/world.ts";
import { callback, type Tokens } from "./oauth-world.ts";
import { ScriptedBrowser } from "./scripted-browser.ts";

const rounds = 5;
const clients = 4;

for (const database of databases) {
  describe(`an authorization server on ${database} that is killed`, () => {
    it("has kept every token that it answered, and every end of one", { timeout: 120_000 }, async (t) => {
      const server = await killableServer(t, database);
      await server.start();
      const links = await Promise.all(Array.from({ length: clients }, () => server.link()));
      const answered: Tokens[] = links.map(({ tokens }) => tokens);
      const revoked: Tokens[] = [];
      for (let round = 1; round <= rounds; round++) {
        const doomed = await server.link();
        assert.equal(await server.revoke(doomed.tokens.refresh_token), 200);
        revoked.push(doomed.tokens);
        // Refreshing goes on in all links while the kill comes, each time after another number of answers.
        let answers = 0;
        const refreshing = links.map(async (link) => {
          for (;;) {
            const { status, body } = await server.refresh(link.tokens.refresh_token);
            if (status !== 200) return status;
            link.tokens = body;
            answered.push(body);
            if (++answers === 3 * round) server.kill();
          }
        });
        const ends = await Promise.allSettled(refreshing);
        for (const end of ends) assert.equal(end.status, "rejected", "a link was refused");
        await server.ended();

        await server.start();
        for (const { access_token } of answered) assert.equal(await server.statusWith(access_token), 200);
        for (const { access_token, refresh_token } of revoked) {
          assert.equal(await server.statusWith(access_token), 401);
          assert.equal((await server.refresh(refresh_token)).status, 400);
        }
      }
      // A code that was exchanged before a kill is spent: who brings it again ends what it gave.
      const [first, ...others] = links;
      assert.equal((await server.exchange(first!.code)).status, 400);
      assert.equal((await server.refresh(first!.tokens.refresh_token)).status, 400);
      for (const { tokens } of others) assert.equal((await server.refresh(tokens.refresh_token)).status, 200);
    });
  });
}

/** A service in a process of its own, with a person and a client that it knows; it comes and goes as the test likes. */
async function killableServer(test: TestContext, database: Database) {
  const house = await killableHouse(test, database);
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
  let child: Awaited<ReturnType<typeof startChild>>;
  test.after(() => child?.process.kill("SIGKILL"));

  const post = async (path: string, form: Readonly<Record<string, string>>) => {
    const body = new URLSearchParams({ client_id: client.id, client_secret: secret, ...form });
    const answer = await fetch(`${child.baseUrl}${path}`, { method: "POST", body });
    return { status: answer.status, body: (await answer.json()) as Tokens };
  };
  const exchange = (code: string) => post("/oauth2/access_token", { grant_type: "authorization_code", code });
  return {
    async start() {
      child = await startChild("serve", house.environment);
    },
    kill: () => child.process.kill("SIGKILL"),
    ended: () => child.ended,
    exchange,
    refresh: (token: string) => post("/oauth2/access_token", { grant_type: "refresh_token", refresh_token: token }),
    revoke: async (token: string) => (await post("/oauth2/revoke_token", { token, token_type_hint: "" })).status,
    async statusWith(accessToken: string) {
      const answer = await fetch(`${child.baseUrl}/v3/users`, { headers: { authorization: `Bearer ${accessToken}` } });
      await answer.arrayBuffer();
      return answer.status;
    },
    async link() {
      const query = new URLSearchParams({ response_type: "code", client_id: client.id, state: "s-1" });
      const browser = new ScriptedBrowser(() => child.baseUrl);
      const back = await browser.authorize(`/oauth2/authorize?${query}`, person);
      const code = back.searchParams.get("code")!;
      const { status, body } = await exchange(code);
      assert.equal(status, 200);
      return { code, tokens: body };
    },
  };
}
