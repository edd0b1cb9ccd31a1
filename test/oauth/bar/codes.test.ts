import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { statementsOn } from "../../set-up/sample.ts";
import { databases } from "../../stories/world.ts";
import { type Answered, ada, callback, type MadeClient, type OAuthWorld, oauthWorld } from "../oauth-world.ts";
import { formOf } from "../scripted-browser.ts";
import { assertInvalidClient, assertRefused } from "./refused.ts";
import { redirectParameters } from "./shown-pages.ts";
import { storedFiles, storedRows } from "./stored.ts";

const verifier = "v".repeat(43);
const pkce = {
  code_challenge: createHash("sha256").update(verifier).digest("base64url"),
  code_challenge_method: "S256",
};

function assertInvalidGrant(answer: Answered): void {
  assertRefused(answer, 400, "invalid_grant");
}

function assertIssued(answer: Answered): void {
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}

/** Asserts that neither token of a pair works any more. */
async function assertDead(world: OAuthWorld, { body }: Answered, by = world.client): Promise<void> {
  assert.equal(await world.statusWith(body.access_token), 401);
  assertInvalidGrant(await world.refresh(body.refresh_token, by));
}

async function assertAlive(world: OAuthWorld, { body }: Answered): Promise<void> {
  assert.equal(await world.statusWith(body.access_token), 200);
}

/** Runs the exchange this many times concurrently, and returns the successful answers. */
async function atOnce(times: number, exchange: (index: number) => Promise<Answered>) {
  const answers = await Promise.all(Array.from({ length: times }, (_, index) => exchange(index)));
  const issued = answers.filter(({ status }) => status === 200);
  for (const answer of answers) if (answer.status !== 200) assertInvalidGrant(answer);
  return issued;
}

for (const database of databases) {
  describe(`a code, on ${database}`, () => {
    const statements = statementsOn(database, { everyNth: 24 });
    statements.it("27: is 256 random bits, different each time, of which only the SHA-256 is stored", async (t) => {
      const world = await oauthWorld(t, { database });
      const browser = world.browser();
      const codes: string[] = [];
      for (let i = 0; i < 6; i++) {
        const address = await browser.authorize(world.authorizeUrl({ state: "the same" }), ada);
        codes.push(address.searchParams.get("code")!);
      }
      const [spent, ...unspent] = codes;
      assertIssued(await world.exchange(spent!));
      const start = commonStart(codes);
      assert.ok(start.length <= 8, `a prefix at most: ${start}`);
      for (const code of codes) {
        assert.match(code, /^[A-Za-z0-9_-]+$/);
        assert.ok((code.length - start.length) * 6 >= 256, `${code.length} characters`);
      }
      const rows = await storedRows(world);
      const dump = JSON.stringify([...rows]);
      const files = storedFiles(world);
      for (const code of codes) {
        const random = code.slice(start.length);
        const bytes = Buffer.from(random, "base64url");
        for (const written of [random, bytes.toString("hex"), bytes.toString("base64")]) {
          assert.ok(!dump.includes(written), "a table holds a code");
          assert.ok(!world.logged.join("").includes(written), "the log holds a code");
        }
        for (const { name, bytes: content } of files) {
          assert.ok(!content.includes(random) && !content.includes(bytes), `${name} holds a code`);
        }
      }
      for (const code of unspent) {
        const digest = createHash("sha256").update(code);
        const hashes = [digest.copy().digest("base64url"), digest.copy().digest("hex")];
        assert.ok(
          hashes.some((hash) => dump.includes(hash)),
          "its SHA-256 is stored",
        );
      }
    });

    statements.it("27: can't be computed from the store, nor is its hash a code", async (t) => {
      const world = await oauthWorld(t, { database });
      await world.code();
      const stored = new Set(
        [...(await storedRows(world)).values()]
          .flat()
          .flatMap((row) => Object.values(row))
          .filter((value) => typeof value === "string" && value.length >= 20 && value.length < 200),
      );
      assert.ok(stored.size > 0);
      for (const value of stored) {
        const answer = await world.exchange(String(value));
        assert.equal(answer.status, 400, `${answer.status}`);
      }
    });

    statements.it("28: is valid for sixty seconds, and a double click does not extend it", async (t) => {
      const world = await oauthWorld(t, { database, isClockStill: database === "sqlite" });
      const inTime = await world.code();
      await world.timePasses(50_000);
      assertIssued(await world.exchange(inTime));

      const browser = world.browser();
      const terms = await browser.signIn(world.authorizeUrl(), ada);
      const code = redirectParameters(await browser.submit(formOf(terms), { decision: "accept" }), callback).get(
        "code",
      )!;
      await world.timePasses(40_000);
      const again = await browser.submit(formOf(terms), { decision: "accept" });
      assert.equal(redirectParameters(again, callback).get("code"), code);
      await world.timePasses(21_000);
      assertInvalidGrant(await world.exchange(code));
      const late = await browser.submit(formOf(terms), { decision: "accept" });
      assert.equal(late.location, "");
      assertInvalidGrant(await world.exchange(code));
      assert.equal((await storedRows(world)).get("grants")?.length, 1, "only the first code gave a grant");
    });

    statements.it("29: belongs to one client, and stays valid when another client tries it", async (t) => {
      const world = await oauthWorld(t, { database });
      const neighbour = await world.addClient({ name: "Neighbour" });
      const stranger = await world.addClient({ name: "Stranger", tenant: "Other" });
      const enterprise = await world.addClient({ name: "Enterprise", kind: "enterprise" });
      const code = await world.code();
      for (const other of [neighbour, stranger, enterprise]) assertInvalidGrant(await world.exchange(code, other));
      assertInvalidClient(await world.exchange(code, { id: world.client.id, secret: neighbour.secret }));
      assertInvalidClient(await world.exchange(code, { id: neighbour.id, secret: world.client.secret }));
      assertIssued(await world.exchange(code));
    });

    statements.it("29: belongs to one redirect address and one challenge; a wrong one invalidates it", async (t) => {
      const world = await oauthWorld(t, { database });
      const requested = { redirect_uri: callback, ...pkce };
      const sent = { redirect_uri: callback, code_verifier: verifier };
      assertIssued(await world.exchange(await world.code(requested), world.client, sent));
      const wrongs = [
        { ...sent, redirect_uri: `${callback}/` },
        { ...sent, redirect_uri: "https://evil.example/" },
        { ...sent, code_verifier: "w".repeat(43) },
        { ...sent, code_verifier: pkce.code_challenge },
      ];
      for (const wrong of wrongs) {
        const code = await world.code(requested);
        assertInvalidGrant(await world.exchange(code, world.client, wrong));
        assertInvalidGrant(await world.exchange(code, world.client, sent));
      }
      for (const incomplete of [{ redirect_uri: callback }, { code_verifier: verifier }]) {
        const answer = await world.exchange(await world.code(requested), world.client, incomplete);
        assertRefused(answer, 400, "invalid_grant", "invalid_request");
      }
    });

    statements.it("29: belongs to one user, whatever scope or user the exchange names", async (t) => {
      const world = await oauthWorld(t, { database });
      const bob = { name: "bob", password: "another word" };
      const codes = [await world.code({ scope: "all admin *" }), await world.code({}, bob)];
      const users = [world.userId, world.bobId];
      const onlyKnown = "devices:read";
      for (const [index, code] of codes.entries()) {
        const { body } = await world.exchange(code, world.client, { scope: "everything", user: "root" });
        assert.equal(body.scope, [onlyKnown, undefined][index]);
        assert.deepEqual((await world.get("/v3/users", body.access_token)).body, [users[index]]);
      }
    });

    statements.it("29: ends with a new password, and with the removal of its client", async (t) => {
      const world = await oauthWorld(t, { database });
      const leaving = await world.addClient({ name: "Leaving" });
      const orphan = await world.code({ client_id: leaving.id });
      await world.service.parts.oauth.removeClient(leaving.id);
      assertInvalidClient(await world.exchange(orphan, leaving));
      assertInvalidGrant(await world.exchange(orphan));
      const code = await world.code();
      await world.service.parts.identity.setPassword(world.userId, "a new password");
      assertInvalidGrant(await world.exchange(code));
    });

    it("30: is exchanged once by concurrent requests", async (t) => {
      const world = await oauthWorld(t, { database });
      for (let round = 0; round < 5; round++) {
        const code = await world.code();
        const issued = await atOnce(16, () => world.exchange(code));
        assert.equal(issued.length, 1);
        // The other fifteen were replays.
        await assertDead(world, issued[0]!);
      }
    });

    statements.it(
      "30: is exchanged once, also with concurrent requests of other clients or with wrong addresses",
      async (t) => {
        const world = await oauthWorld(t, { database });
        const neighbour = await world.addClient({ name: "Neighbour" });
        for (let round = 0; round < 3; round++) {
          const code = await world.code();
          const issued = await atOnce(16, (index) => world.exchange(code, index % 2 ? neighbour : world.client));
          assert.equal(issued.length, 1);
          const spoiled = await world.code({ redirect_uri: callback });
          const addresses = [callback, `${callback}/`];
          const some = await atOnce(16, (index) =>
            world.exchange(spoiled, world.client, { redirect_uri: addresses[index % 2] }),
          );
          assert.ok(some.length <= 1);
          for (const one of some) await assertDead(world, one);
        }
      },
    );

    statements.it("31: used again by its client, ends its own grant and no other", async (t) => {
      const world = await oauthWorld(t, { database });
      const [before, after] = [await world.exchange(await world.code()), await world.exchange(await world.code())];
      const code = await world.code();
      const first = await world.exchange(code);
      const second = await world.refresh(first.body.refresh_token);
      const third = await world.refresh(second.body.refresh_token);
      for (const pair of [first, second, third]) await assertAlive(world, pair);
      assertInvalidGrant(await world.exchange(code));
      for (const pair of [first, second, third]) await assertDead(world, pair);
      for (const pair of [before, after]) {
        await assertAlive(world, pair);
        assertIssued(await world.refresh(pair.body.refresh_token));
      }
      assertInvalidGrant(await world.exchange(code));
    });

    statements.it("31: used again by its client with wrong parameters, still ends its grant", async (t) => {
      const world = await oauthWorld(t, { database });
      const sent = { redirect_uri: callback, code_verifier: verifier };
      for (const stolen of [
        {},
        { ...sent, code_verifier: "w".repeat(43) },
        { ...sent, redirect_uri: `${callback}/` },
      ]) {
        const code = await world.code({ redirect_uri: callback, ...pkce });
        const issued = await world.exchange(code, world.client, sent);
        assertIssued(issued);
        assertRefused(await world.exchange(code, world.client, stolen), 400, "invalid_grant", "invalid_request");
        await assertDead(world, issued);
      }
    });

    statements.it("31: used again by another client, ends nothing", async (t) => {
      const world = await oauthWorld(t, { database });
      const neighbour = await world.addClient({ name: "Neighbour" });
      const code = await world.code();
      const issued = await world.exchange(code);
      assertInvalidGrant(await world.exchange(code, neighbour));
      assertInvalidClient(await world.exchange(code, { id: world.client.id, secret: "wrong" }));
      assertInvalidClient(await world.exchange(code, { id: world.client.id, secret: neighbour.secret }));
      const noSecret = { grant_type: "authorization_code", code, client_id: world.client.id };
      assertInvalidClient(await world.post("/oauth2/access_token", noSecret));
      await assertAlive(world, issued);
      assertIssued(await world.refresh(issued.body.refresh_token));
    });

    statements.it("31: used again after its sixty seconds, still ends its grant", async (t) => {
      const world = await oauthWorld(t, { database });
      const code = await world.code();
      const issued = await world.exchange(code);
      await world.timePasses(5 * 60_000);
      await assertAlive(world, issued);
      assertInvalidGrant(await world.exchange(code));
      await assertDead(world, issued);
    });

    statements.it("32: requires the same redirect address again when it was sent", async (t) => {
      const world = await oauthWorld(t, { database });
      const other = `${callback}2`;
      const two = await world.addClient({ name: "Two", redirectUris: [callback, other] });
      const trade = async (by: MadeClient, requested: string | undefined, sent: string | undefined) => {
        const code = await world.code({ client_id: by.id, redirect_uri: requested });
        return world.exchange(code, by, { redirect_uri: sent });
      };
      assertIssued(await trade(two, callback, callback));
      assertIssued(await trade(two, other, other));
      assertInvalidGrant(await trade(two, callback, other));
      for (const sent of [undefined, ""]) {
        assertRefused(await trade(two, callback, sent), 400, "invalid_grant", "invalid_request");
        assertRefused(await trade(world.client, callback, sent), 400, "invalid_grant", "invalid_request");
      }
      const nearMisses = [`${callback}/`, `${callback}#`, callback.toUpperCase(), ` ${callback}`, `${callback}?`];
      for (const sent of [...nearMisses, encodeURIComponent(callback), "https://evil.example/"]) {
        assertInvalidGrant(await trade(world.client, callback, sent));
        assertInvalidGrant(await trade(world.client, undefined, sent));
      }
      for (const sent of [undefined, "", callback]) assertIssued(await trade(world.client, undefined, sent));
      for (const sent of [undefined, "", callback]) assertIssued(await trade(world.client, "", sent));
    });
  });
}

describe("a code at several nodes", () => {
  it("30: is exchanged once by requests to different nodes", async (t) => {
    const world = await oauthWorld(t, { database: "postgres" });
    const second = await world.secondNode();
    for (let round = 0; round < 5; round++) {
      const code = await world.code();
      const body = new URLSearchParams({
        grant_type: "authorization_code",
        code,
        client_id: world.client.id,
        client_secret: world.client.secret,
      });
      const issued = await atOnce(16, async (index) => {
        const baseUrl = index % 2 ? second.baseUrl : world.baseUrl;
        const answer = await fetch(`${baseUrl}/oauth2/access_token`, { method: "POST", body });
        return { status: answer.status, headers: answer.headers, body: await answer.json() };
      });
      assert.equal(issued.length, 1);
      assertInvalidGrant(await world.refresh(issued[0]!.body.refresh_token));
    }
  });
});

function commonStart([first = "", ...others]: readonly string[]): string {
  let length = 0;
  while (length < first.length && others.every((other) => other[length] === first[length])) length++;
  return first.slice(0, length);
}
