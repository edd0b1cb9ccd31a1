import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import pg from "pg";
import { sharedCluster } from "../../set-up/postgres.ts";
import { statementsOn } from "../../set-up/sample.ts";
import { databases, eventually } from "../../stories/world.ts";
import { admin, idAndSecret, type MadeClient, type OAuthWorld, oauthWorld, type Tokens } from "../oauth-world.ts";
import { assertInvalidClient, assertRefused } from "./refused.ts";

const json = { "content-type": "application/json" };

for (const database of databases) {
  describe(`revocation on ${database}`, () => {
    const statements = statementsOn(database, { everyNth: 24 });
    statements.it("56: requires client authentication; without it the token stays valid", async (t) => {
      const world = await oauthWorld(t, { database });
      const { access_token, refresh_token } = await world.tokens();
      const path = "/oauth2/revoke_token";
      for (const token of [access_token, refresh_token]) {
        for (const credentials of [
          {},
          { client_id: world.client.id },
          { client_id: world.client.id, client_secret: "bwcs_wrong" },
        ]) {
          assertInvalidClient(await world.post(path, { token, token_type_hint: "", ...credentials }));
        }
        // The token itself does not authenticate the client.
        const headers = { authorization: `Bearer ${access_token}` };
        assertInvalidClient(await world.post(path, { token }, { headers }));
      }
      await assertAlive(world, { access_token, refresh_token });
    });

    statements.it("56: answers 200 and OK, in the body or by Basic, by form or by JSON", async (t) => {
      const world = await oauthWorld(t, { database });
      const { id, secret } = world.client;
      const basic = { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}` };
      const credentials = { client_id: id, client_secret: secret };
      const ways = [
        (token: string) => world.post("/oauth2/revoke_token", { token, token_type_hint: "", ...credentials }),
        (token: string) => world.post("/oauth2/revoke_token", { token }, { headers: basic }),
        (token: string) => {
          const body = JSON.stringify({ token, token_type_hint: "", ...credentials });
          return world.post("/oauth2/revoke_token", {}, { headers: json, body });
        },
        (token: string) => {
          const body = JSON.stringify({ token });
          return world.post("/oauth2/revoke_token", {}, { headers: { ...json, ...basic }, body });
        },
      ];
      for (const way of ways) {
        const issued = await world.tokens();
        const { status, body, headers } = await way(issued.access_token);
        assert.equal(status, 200);
        assert.deepEqual(body, { status: "OK" });
        assert.match(headers.get("cache-control") ?? "", /no-store/);
        await assertDead(world, issued);
      }
    });

    statements.it("56: answers 200 also for an unknown, malformed or revoked token", async (t) => {
      const world = await oauthWorld(t, { database });
      const issued = await world.tokens();
      await world.revoke(issued.refresh_token);
      const alive = await world.tokens();
      for (const token of [
        issued.refresh_token,
        issued.access_token,
        `bwa_${"A".repeat(43)}`,
        `bwr_${"A".repeat(43)}`,
        "nonsense",
        "\0",
        `${alive.access_token}\0`,
        ` ${alive.access_token}`,
        alive.access_token.toUpperCase(),
        "' OR '1'='1",
        "%",
        "é\u{1f525}",
        "a".repeat(10_000),
        world.client.secret,
      ]) {
        const { status, body } = await world.revoke(token);
        assert.equal(status, 200, token.slice(0, 50));
        assert.deepEqual(body, { status: "OK" });
      }
      await assertAlive(world, alive);
    });

    statements.it("56: leaves another client's tokens valid, and does not reveal that they exist", async (t) => {
      const world = await oauthWorld(t, { database });
      const issued = await world.tokens();
      const enterprise = await world.addClient({ kind: "enterprise" });
      const whole = await world.tokens(enterprise, admin);
      for (const other of [await world.addClient(), await world.addClient({ tenant: "Other" })]) {
        for (const hint of ["", "access_token", "refresh_token"]) {
          for (const { access_token, refresh_token } of [issued, whole]) {
            for (const token of [access_token, refresh_token]) {
              const { status, body } = await world.revoke(token, other, hint);
              assert.equal(status, 200);
              assert.deepEqual(body, { status: "OK" });
            }
          }
        }
      }
      await world.revoke(issued.refresh_token, enterprise);
      await world.revoke(whole.refresh_token, world.client);
      await assertAlive(world, issued);
      await assertAlive(world, whole, enterprise);
    });

    statements.it("56: requires exactly one token", async (t) => {
      const world = await oauthWorld(t, { database });
      const issued = await world.tokens();
      const credentials = { client_id: world.client.id, client_secret: world.client.secret };
      assertRefused(await world.post("/oauth2/revoke_token", credentials), 400, "invalid_request");
      assertRefused(await world.revoke(""), 400, "invalid_request");
      const body = new URLSearchParams([
        ...Object.entries(credentials),
        ["token", issued.access_token],
        ["token", issued.refresh_token],
      ]);
      assertRefused(await world.post("/oauth2/revoke_token", {}, { body }), 400, "invalid_request");
      await assertAlive(world, issued);
    });

    statements.it("57: finds either kind of token by any hint: none, empty, wrong or unknown", async (t) => {
      const world = await oauthWorld(t, { database });
      for (const kind of ["access_token", "refresh_token"] as const) {
        for (const hint of [undefined, "", "access_token", "refresh_token", "urn:unknown", "' --", "a".repeat(1_000)]) {
          const issued = await world.tokens();
          const form = { token: issued[kind], token_type_hint: hint, ...idAndSecret(world.client) };
          const { status } = await world.post("/oauth2/revoke_token", form);
          assert.equal(status, 200);
          await assertDead(world, issued);
        }
      }
    });

    statements.it(
      "58: of either token of a pair ends the whole grant: every refreshed pair, and no other grant",
      async (t) => {
        const world = await oauthWorld(t, { database });
        const untouched = await world.tokens();
        const otherClient = await world.addClient();
        const elsewhere = await world.tokens(otherClient);
        const code = await world.code();
        for (const pick of [
          ([first]: readonly Tokens[]) => first!.refresh_token,
          ([first]: readonly Tokens[]) => first!.access_token,
          ([, second]: readonly Tokens[]) => second!.refresh_token,
          (all: readonly Tokens[]) => all.at(-1)!.refresh_token,
          (all: readonly Tokens[]) => all.at(-1)!.access_token,
        ]) {
          const first = await world.tokens();
          const second = (await world.refresh(first.refresh_token)).body;
          const sibling = (await world.refresh(first.refresh_token)).body;
          const third = (await world.refresh(second.refresh_token)).body;
          const all = [first, second, sibling, third];
          for (const { access_token } of all) assert.equal(await world.statusWith(access_token), 200);
          await world.revoke(pick(all));
          for (const one of all) await assertDead(world, one);
        }
        await assertAlive(world, untouched);
        await assertAlive(world, elsewhere, otherClient);
        assert.equal((await world.exchange(code)).status, 200);
      },
    );

    statements.it("58: ends an enterprise client's grant too, also one of client_credentials", async (t) => {
      const world = await oauthWorld(t, { database });
      const enterprise = await world.addClient({ kind: "enterprise" });
      const whole = await world.tokens(enterprise, admin);
      const [own, sibling] = [await ownToken(world, enterprise), await ownToken(world, enterprise)];
      await world.revoke(whole.access_token, enterprise);
      await assertDead(world, whole, enterprise);
      await world.revoke(own, enterprise);
      assert.equal(await world.statusWith(own), 401);
      assert.equal(await world.statusWith(sibling), 200);
    });

    statements.it("58: of a retired refresh token still ends the grant", async (t) => {
      const world = await oauthWorld(t, { database });
      const first = await world.tokens();
      const second = (await world.refresh(first.refresh_token)).body;
      const third = (await world.refresh(second.refresh_token)).body;
      await world.timePasses(61_000);
      assert.equal((await world.revoke(first.refresh_token)).status, 200);
      await assertDead(world, third);
    });

    statements.it("59: is effective before it is answered, also for cached tokens, and after a restart", async (t) => {
      const world = await oauthWorld(t, { database });
      const enterprise = await world.addClient({ kind: "enterprise" });
      let last = "";
      for (let round = 0; round < 25; round++) {
        last = await ownToken(world, enterprise);
        for (let use = 0; use < 3; use++) assert.equal(await world.statusWith(last), 200);
        assert.equal((await world.revoke(last, enterprise)).status, 200);
        assert.equal(await world.statusWith(last), 401);
      }
      await world.restart();
      assert.equal(await world.statusWith(last), 401);
    });

    it("59: isn't undone by concurrent calls", async (t) => {
      const world = await oauthWorld(t, { database });
      const enterprise = await world.addClient({ kind: "enterprise" });
      for (let round = 0; round < 25; round++) {
        const token = await ownToken(world, enterprise);
        const before = Array.from({ length: round % 8 }, () => world.statusWith(token));
        const revoked = world.revoke(token, enterprise);
        const beside = Array.from({ length: 8 }, () => world.statusWith(token));
        assert.equal((await revoked).status, 200);
        // Calls that began earlier may have succeeded; these must not.
        assert.deepEqual(await Promise.all([1, 2, 3].map(() => world.statusWith(token))), [401, 401, 401]);
        await Promise.all([...before, ...beside]);
        assert.equal(await world.statusWith(token), 401);
      }
    });

    it("59: isn't undone by a delayed look-up", async (t) => {
      const world = await oauthWorld(t, { database });
      const issued = await world.tokens();
      const { store } = world.service.parts;
      const read = store.read;
      const found = Promise.withResolvers<void>();
      const heldUp = Promise.withResolvers<void>();
      store.read = async (body) => {
        const result: unknown = await read.call(store, body);
        const isToken = typeof result === "object" && result !== null && "grant" in result;
        if (isToken) found.resolve();
        if (isToken) await heldUp.promise;
        return result as never;
      };
      const late = world.statusWith(issued.access_token);
      await found.promise;
      store.read = read;
      assert.equal((await world.revoke(issued.refresh_token)).status, 200);
      heldUp.resolve();
      await late;
      await assertDead(world, issued);
    });

    it("59: ends the tokens of concurrent refreshes too", async (t) => {
      const world = await oauthWorld(t, { database });
      for (let round = 0; round < 4; round++) {
        const issued = await world.tokens();
        const [, ...refreshes] = await Promise.all([
          world.revoke(issued.access_token),
          ...Array.from({ length: 4 }, () => world.refresh(issued.refresh_token)),
        ]);
        for (const { status, body } of refreshes) {
          if (status === 200) await assertDead(world, body);
          else assert.deepEqual([status, body.error], [400, "invalid_grant"]);
        }
        await assertDead(world, issued);
      }
    });
  });
}

describe("revocation when the store fails", () => {
  it("60: is 503 with Retry-After while PostgreSQL is away, and works afterwards", async (t) => {
    const world = await oauthWorld(t, { database: "postgres" });
    const issued = await world.tokens();
    assert.equal(await world.statusWith(issued.access_token), 200);
    const name = new URL(world.databaseUrl!).pathname.slice(1);
    await administer(
      `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    );
    for (const token of [issued.refresh_token, issued.access_token, "bwr_unknown"]) {
      const refused = await world.revoke(token);
      assertRefused(refused, 503, "store_unavailable", "temporarily_unavailable");
      assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    }
    await administer(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await eventually(t.signal, async () => assert.equal(await world.statusWith(issued.access_token), 200));
    assert.equal((await world.revoke(issued.refresh_token)).status, 200);
    await assertDead(world, issued);
  });

  it("60: is never answered 200 when it was not stored", async (t) => {
    const world = await oauthWorld(t);
    const issued = await world.tokens();
    const database = new DatabaseSync(join(world.folder, "breezeway.db"));
    t.after(() => database.close());
    const tables = ["grants", "access_tokens", "refresh_tokens"];
    for (const table of tables) {
      database.exec(`CREATE TRIGGER broken BEFORE DELETE ON ${table} BEGIN SELECT RAISE(ABORT, 'broken'); END`);
      for (const token of [issued.refresh_token, issued.access_token]) {
        const { status, body } = await world.revoke(token);
        assert.ok(status >= 500, `${table}: ${status}`);
        assert.ok(!JSON.stringify(body).includes("broken"));
        assert.ok(!world.logged.join().includes(token));
      }
      database.exec("DROP TRIGGER broken");
      assert.equal(await world.statusWith(issued.access_token), 200, "half of it was revoked");
    }
    assert.equal((await world.refresh(issued.refresh_token)).status, 200);
    assert.equal((await world.revoke(issued.refresh_token)).status, 200);
    await assertDead(world, issued);
  });
});

async function ownToken(world: OAuthWorld, client: MadeClient): Promise<string> {
  const answer = await world.post("/oauth2/access_token", {
    grant_type: "client_credentials",
    ...idAndSecret(client),
  });
  assert.equal(answer.status, 200);
  return answer.body.access_token;
}

type Pair = Pick<Tokens, "access_token" | "refresh_token">;

async function assertAlive(world: OAuthWorld, tokens: Pair, by = world.client): Promise<void> {
  assert.equal(await world.statusWith(tokens.access_token), 200);
  assert.equal((await world.refresh(tokens.refresh_token, by)).status, 200);
}

async function assertDead(world: OAuthWorld, tokens: Pair, by = world.client): Promise<void> {
  assert.equal(await world.statusWith(tokens.access_token), 401);
  assertRefused(await world.refresh(tokens.refresh_token, by), 400, "invalid_grant");
}

async function administer(...statements: readonly string[]): Promise<void> {
  const server = new pg.Client({ connectionString: (await sharedCluster()).url });
  await server.connect();
  try {
    for (const statement of statements) await server.query(statement);
  } finally {
    await server.end();
  }
}
