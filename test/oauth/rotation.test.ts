import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rounds } from "../set-up/extent.ts";
import { longSuiteOn } from "../stories/world.ts";
import { type Answered, type OAuthWorld, oauthWorld, type Tokens } from "./oauth-world.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

for (const database of longSuiteOn("sqlite")) {
  describe(`a code on ${database}`, () => {
    it("gives tokens to one of 16 concurrent requests, and these end by the replays", async (t) => {
      const world = await oauthWorld(t, { database });
      for (let round = 1; round <= 3; round++) {
        const code = await world.code();
        const answers = await atOnce(16, () => world.exchange(code));
        const [issued, ...others] = answers.filter(({ status }) => status === 200);
        assert.ok(issued);
        assert.equal(others.length, 0, `${answers.map(({ status }) => status)}`);
        for (const answer of answers) if (answer !== issued) assertInvalidGrant(answer);
        assert.equal(await world.statusWith(issued.body.access_token), 401);
        assertInvalidGrant(await world.refresh(issued.body.refresh_token));
      }
    });
  });

  describe(`a refresh token on ${database}`, () => {
    it("gives two concurrent refreshes a successor each, and all of many clients can use both", async (t) => {
      const world = await oauthWorld(t, { database });
      const links: Tokens[] = [];
      // One source may have 20 sign-ins in progress.
      while (links.length < rounds({ all: 50, few: 10 })) links.push(...(await atOnce(10, () => world.tokens())));
      const pairs = await Promise.all(links.map((link) => atOnce(2, () => refreshed(world, link))));
      const assertUsable = async (link: Tokens) => {
        assert.equal(await world.statusWith(link.access_token), 200);
        const next = await refreshed(world, await refreshed(world, link));
        assert.equal(await world.statusWith(next.access_token), 200);
      };
      // One successor is used at once, the other after its parent has retired.
      for (const [one, other] of pairs) assert.notEqual(one!.refresh_token, other!.refresh_token);
      await Promise.all(pairs.map(([first]) => assertUsable(first!)));
      await world.timePasses(10 * minuteMs);
      await Promise.all(pairs.map(([, second]) => assertUsable(second!)));
    });

    it("may be used again 10 minutes after a lost answer, at any place of the chain", async (t) => {
      const world = await oauthWorld(t, { database });
      let held = await world.tokens();
      for (let round = 1; round <= 4; round++) {
        await refreshed(world, held);
        await world.timePasses(10 * minuteMs);
        held = await refreshed(world, held);
        assert.equal(await world.statusWith(held.access_token), 200);
      }
    });

    it("is valid many times for a client that keeps its first token", async (t) => {
      const world = await oauthWorld(t, { database });
      const first = await world.tokens();
      for (let hour = 1; hour <= 20; hour++) {
        await world.timePasses(60 * minuteMs);
        assert.equal(await world.statusWith((await refreshed(world, first)).access_token), 200);
      }
    });

    it("is still valid within a minute after its successor was used", async (t) => {
      const world = await oauthWorld(t, { database });
      const first = await world.tokens();
      await refreshed(world, await refreshed(world, first));
      await world.timePasses(0.75 * minuteMs);
      const again = await refreshed(world, first);
      assert.equal(await world.statusWith((await refreshed(world, again)).access_token), 200);
    });

    it("ends its whole grant when it is used after it has retired", async (t) => {
      const world = await oauthWorld(t, { database });
      const first = await world.tokens();
      const other = await world.tokens();
      const second = await refreshed(world, first);
      const sibling = await refreshed(world, first);
      const third = await refreshed(world, second);
      await world.timePasses(1.25 * minuteMs);
      for (const { access_token } of [first, second, sibling, third, other]) {
        assert.equal(await world.statusWith(access_token), 200);
      }
      assertInvalidGrant(await world.refresh(first.refresh_token));
      for (const { access_token, refresh_token } of [first, second, sibling, third]) {
        assert.equal(await world.statusWith(access_token), 401);
        assertInvalidGrant(await world.refresh(refresh_token));
      }
      assert.equal(await world.statusWith((await refreshed(world, other)).access_token), 200);
    });

    it("with two used successors is audited, once for each second successor", async (t) => {
      const world = await oauthWorld(t, { database });
      const siblingEntries = async () =>
        (await world.service.parts.identity.audit.list({ limit: 100 })).filter(({ act }) => act === "refresh_siblings");
      const first = await world.tokens();
      const [one, two] = [await refreshed(world, first), await refreshed(world, first)];
      await refreshed(world, one);
      await refreshed(world, one);
      assert.deepEqual(await siblingEntries(), [], "one of them in use is a client that repeated a lost refresh");
      const other = await world.tokens();
      await refreshed(world, await refreshed(world, await refreshed(world, other)));
      assert.deepEqual(await siblingEntries(), [], "neither is a chain");
      await refreshed(world, two);
      await refreshed(world, two);
      const [entry, ...others] = await siblingEntries();
      assert.deepEqual(others, []);
      const { tenantId, userId, client } = world;
      assert.deepEqual(
        [entry?.tenantId, entry?.userId, entry?.clientId, Object.keys(entry?.detail ?? {})],
        [tenantId, userId, client.id, ["grant"]],
      );
      for (const { refresh_token } of [first, one, two]) {
        assert.ok(!JSON.stringify(entry).includes(refresh_token));
      }
    });

    it("doesn't retire later when a successor is used again", async (t) => {
      const world = await oauthWorld(t, { database });
      const first = await world.tokens();
      const [one, two] = [await refreshed(world, first), await refreshed(world, first)];
      await refreshed(world, one);
      await world.timePasses(0.75 * minuteMs);
      await refreshed(world, two);
      await world.timePasses(0.75 * minuteMs);
      assertInvalidGrant(await world.refresh(first.refresh_token));
      assertInvalidGrant(await world.refresh(two.refresh_token));
    });

    it("has 8 successors at most: the ninth ends the oldest that is unused, and nothing else", async (t) => {
      const world = await oauthWorld(t, { database });
      const parent = await world.tokens();
      const children: Tokens[] = [];
      for (let n = 1; n <= 8; n++) {
        children.push(await refreshed(world, parent));
        await world.timePasses(1_000);
      }
      const [used, oldestUnused, ...younger] = children;
      const grandchild = await refreshed(world, used!);
      const ninth = await refreshed(world, parent);
      assertInvalidGrant(await world.refresh(oldestUnused!.refresh_token));
      for (const { access_token } of children) assert.equal(await world.statusWith(access_token), 200);
      for (const one of [grandchild, ...younger, ninth]) await refreshed(world, one);
    });

    it("leaves earlier access tokens valid until their expiry", async (t) => {
      const world = await oauthWorld(t, { database });
      const first = await world.tokens();
      await world.timePasses(30 * minuteMs);
      const second = await refreshed(world, first);
      await world.timePasses(29 * minuteMs);
      const third = await refreshed(world, second);
      const statuses = () =>
        Promise.all([first, second, third].map(({ access_token }) => world.statusWith(access_token)));
      assert.deepEqual(await statuses(), [200, 200, 200]);
      await world.timePasses(2 * minuteMs);
      assert.deepEqual(await statuses(), [401, 200, 200]);
      await world.timePasses(60 * minuteMs);
      assert.deepEqual(await statuses(), [401, 401, 401]);
      await refreshed(world, third);
    });

    it("is valid after 364 days without use, and each use extends it and its successor by a year", async (t) => {
      const world = await oauthWorld(t, { database });
      const first = await world.tokens();
      await world.timePasses(364 * dayMs);
      const second = await refreshed(world, first);
      await world.timePasses(364 * dayMs);
      await refreshed(world, first);
      await refreshed(world, second);
    });

    it("has expired after 366 days without use", async (t) => {
      const world = await oauthWorld(t, { database });
      const first = await world.tokens();
      await world.timePasses(366 * dayMs);
      assertInvalidGrant(await world.refresh(first.refresh_token));
    });
  });
}

async function refreshed(world: OAuthWorld, { refresh_token }: Tokens): Promise<Tokens> {
  const { status, body } = await world.refresh(refresh_token);
  assert.equal(status, 200, body.error_description);
  return body;
}

function assertInvalidGrant({ status, body }: Answered): void {
  assert.deepEqual([status, body.error], [400, "invalid_grant"]);
}

function atOnce<Result>(count: number, act: () => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, act));
}
