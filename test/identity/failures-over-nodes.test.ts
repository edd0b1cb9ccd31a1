import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import pg from "pg";
import { ada, oauthWorld } from "../oauth/oauth-world.ts";
import { missingPostgres } from "../set-up/postgres.ts";

const stretchedMs = 600_000;

/** Two nodes on one database, with a login and a client authentication at each. */
async function twoNodes(t: TestContext) {
  const world = await oauthWorld(t, { database: "postgres" });
  const nodes = [world.service, await world.secondNode()] as const;
  const logIn = async (at: 0 | 1, password: string) => {
    const form = { name: ada.name, password, appId: String(world.tenantId) };
    const answer = await post(`${nodes[at].baseUrl}/zdk/services/zamapi/userLogin`, form);
    return /Code>(\d+)</i.exec(await answer.text())?.[1] ?? "let in";
  };
  const authenticate = (at: 0 | 1, secret: string) =>
    post(`${nodes[at].baseUrl}/oauth2/access_token`, {
      grant_type: "refresh_token",
      refresh_token: "bwr_none",
      client_id: world.client.id,
      client_secret: secret,
    });
  const sql = new pg.Client({ connectionString: world.databaseUrl! });
  await sql.connect();
  t.after(() => sql.end());
  const counts = async () => (await sql.query("SELECT failures FROM failure_counts ORDER BY failures")).rows;
  /** Makes the delay of one second last ten minutes: on a busy machine it would end before it is checked. */
  const stretch = () => sql.query(`UPDATE failure_counts SET last_ms = last_ms + ${stretchedMs}`);
  return { world, logIn, authenticate, counts, stretch };
}

function post(url: string, form: Record<string, string>): Promise<Response> {
  return fetch(url, { method: "POST", body: new URLSearchParams(form) });
}

describe("failures at two nodes of one database", { skip: missingPostgres() ?? false }, () => {
  it("of one password count together: five in all are free", { timeout: 60_000 }, async (t) => {
    const { world, logIn, counts, stretch } = await twoNodes(t);
    for (const at of [0, 1, 0, 1, 0] as const) assert.equal(await logIn(at, "a guess"), "101");
    await stretch();
    for (const at of [0, 1] as const) assert.equal(await logIn(at, ada.password), "107");
    assert.deepEqual(await counts(), [{ failures: 5 }, { failures: 5 }]);
    // The delay passes on the database's clock, and a success resets the count for both nodes.
    await world.timePasses(stretchedMs + 1_000);
    assert.equal(await logIn(1, ada.password), "let in");
    for (const at of [0, 1, 0, 1, 0] as const) assert.equal(await logIn(at, "a guess"), "101");
    await stretch();
    for (const at of [0, 1] as const) assert.equal(await logIn(at, ada.password), "107");
    await world.timePasses(stretchedMs + 60 * 60_000);
    await world.service.parts.identity.sweep();
    assert.deepEqual(await counts(), []);
  });

  it("of a client's secret count together, and apart from passwords", { timeout: 60_000 }, async (t) => {
    const { world, logIn, authenticate, stretch } = await twoNodes(t);
    for (const at of [0, 1, 0, 1, 0] as const) assert.equal((await authenticate(at, "a guess")).status, 401);
    await stretch();
    for (const at of [0, 1] as const) {
      const refused = await authenticate(at, world.client.secret);
      assert.equal(refused.status, 429);
      assert.ok(Number(refused.headers.get("retry-after")) > 60);
    }
    assert.equal(await logIn(0, ada.password), "let in");
  });

  it("leave nothing in the store when there were none", { timeout: 60_000 }, async (t) => {
    const { logIn, counts } = await twoNodes(t);
    for (const at of [0, 1] as const) assert.equal(await logIn(at, ada.password), "let in");
    assert.deepEqual(await counts(), []);
  });
});
