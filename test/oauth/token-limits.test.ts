import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AuditAct } from "../../src/identity/audit.ts";
import { hashOf } from "../../src/identity/secrets.ts";
import {
  InvalidGrant,
  InvalidToken,
  OutcomeUnknown,
  StoreUnavailable,
  TooManyRequests,
} from "../../src/model/errors.ts";
import { limits } from "../../src/model/limits.ts";
import { type AddTokenEntry, tokenAuditWith } from "../../src/oauth/token-audit.ts";
import { tokenLimits } from "../../src/oauth/token-limits.ts";
import { onStore } from "../contracts/store/harness.ts";
import { makeHome } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { longSuiteOn } from "../stories/world.ts";
import { storedCounts, storedRows } from "./bar/stored.ts";
import { oauthWorld, type Tokens } from "./oauth-world.ts";

/** Replaced refresh tokens that a grant keeps. */
const mostReplaced = 1_000;

for (const database of longSuiteOn("sqlite")) {
  describe(`a client in a loop, on ${database}`, () => {
    it("that refreshes keeps a bounded number of tokens, and a token from before the loop is noticed", async (t) => {
      const world = await oauthWorld(t, { database });
      const { oauth } = world.service.parts;
      const client = (await oauth.findClient(world.client.id))!;
      const refresh = (refreshToken: string) =>
        oauth.tokens.refresh(client, { refreshToken, requestedScopes: null }, "192.0.2.1");
      const kept = await world.tokens();
      const first = await world.tokens();
      let last = { accessToken: first.access_token, refreshToken: first.refresh_token as string | undefined };
      await world.timePasses(1_000);
      // One refresh in 16 counts the tokens: of 200 further ones at least one does.
      for (let count = 0; count < limits.tokensPerGrant + mostReplaced + 300; count++) {
        last = { refreshToken: undefined, ...(await refresh(last.refreshToken!)) };
      }
      const { access_tokens, refresh_tokens } = await storedCounts(world);
      assert.ok(refresh_tokens! < limits.tokensPerGrant + mostReplaced + 200, `${refresh_tokens} refresh tokens`);
      assert.ok(access_tokens! < limits.tokensPerGrant + 200, `${access_tokens} access tokens`);
      await oauth.verify(last.accessToken);
      await refresh(last.refreshToken!);
      assert.equal(await world.statusWith(kept.access_token), 200, "another grant is not affected");
      // A thief refreshes in a loop. The owner of the grant still has its first token.
      await world.timePasses(120_000);
      await assert.rejects(refresh(first.refresh_token), InvalidGrant);
      await assert.rejects(oauth.verify(last.accessToken), InvalidToken, "the grant has ended");
      const reuses = (await storedRows(world)).get("audit")!.filter(({ act }) => act === "refresh_reuse");
      assert.equal(reuses.length, 1);
    });

    it("that always refreshes with its first token can continue", async (t) => {
      const world = await oauthWorld(t, { database });
      const { oauth } = world.service.parts;
      const client = (await oauth.findClient(world.client.id))!;
      const refresh = (refreshToken: string) =>
        oauth.tokens.refresh(client, { refreshToken, requestedScopes: null }, "192.0.2.1");
      const { refresh_token } = await tokenOfHash(
        () => world.tokens(),
        (first) => !"ABCD".includes(first),
      );
      let accessToken = "";
      for (let count = 0; count < 5 * limits.tokensPerGrant; count++) {
        ({ accessToken } = await refresh(refresh_token));
      }
      await oauth.verify(accessToken);
      const { access_tokens, refresh_tokens } = await storedCounts(world);
      assert.ok(access_tokens! < limits.tokensPerGrant + 200, `${access_tokens} access tokens`);
      assert.ok(refresh_tokens! < limits.tokensPerGrant, `${refresh_tokens} refresh tokens`);
    });

    it("that refreshes each hour reaches no limit, and its stolen token is noticed days later", async (t) => {
      const world = await oauthWorld(t, { database, isClockStill: true });
      const { oauth } = world.service.parts;
      const client = (await oauth.findClient(world.client.id))!;
      const refresh = async (refreshToken: string) =>
        (await oauth.tokens.refresh(client, { refreshToken, requestedScopes: null }, "192.0.2.1")).refreshToken!;
      const held = [(await world.tokens()).refresh_token];
      for (let hour = 0; hour < 200; hour++) {
        await world.timePasses(3_600_000);
        held.push(await refresh(held.at(-1)!));
      }
      await assert.rejects(refresh(held[10]!), InvalidGrant);
      await assert.rejects(refresh(held.at(-1)!), InvalidGrant, "its grant has ended");
      const entries = (await storedRows(world)).get("audit")!.filter(({ act }) => act === "refresh_reuse");
      assert.equal(entries.length, 1);
      const shown = await (await fetch(`${world.baseUrl}/metrics`)).text();
      assert.doesNotMatch(shown, /limit_reached_total\{[^}]*tokensPerGrant[^}]*\} [1-9]/);
    });

    it("that uses client_credentials loses its oldest tokens, and the audit log stays readable", async (t) => {
      const world = await oauthWorld(t, { database });
      const { oauth, identity } = world.service.parts;
      const { id } = await world.addClient({ kind: "enterprise", redirectUris: [] });
      const client = (await oauth.findClient(id))!;
      const take = () => oauth.tokens.issueToClient(client, null, "192.0.2.1");
      const first = await take();
      await oauth.verify(first.accessToken);
      for (let taken = 1; taken < limits.tokensPerClient; taken += 111)
        await Promise.all(Array.from({ length: 111 }, take));
      const last = await take();
      await oauth.verify(last.accessToken);
      await assert.rejects(oauth.verify(first.accessToken), InvalidToken);
      assert.ok((await storedCounts(world)).grants! <= limits.tokensPerClient);
      const written = (await identity.audit.list({ limit: 2_000 })).filter(({ act }) => act === "client_credentials");
      assert.ok(written.length >= 100 && written.length < 250, `${written.length} entries`);
    });

    it("that gets and revokes its own tokens, or uses siblings, leaves a bounded number of audit entries", async (t) => {
      const world = await oauthWorld(t, { database, isClockStill: true });
      const { oauth, identity } = world.service.parts;
      const { id } = await world.addClient({ kind: "enterprise", redirectUris: [] });
      const client = (await oauth.findClient(id))!;
      const round = async () => {
        const { accessToken } = await oauth.tokens.issueToClient(client, null, "192.0.2.1");
        await oauth.tokens.revoke(client, accessToken, "192.0.2.1");
      };
      const entriesOf = async (wanted: AuditAct) =>
        (await identity.audit.list({ limit: 5_000 })).filter(({ act }) => act === wanted);
      for (let count = 0; count < 300; count++) await round();
      for (const act of ["client_credentials", "revocation"] as const) {
        const counts = (await entriesOf(act)).map(({ detail }) => detail.inTenMinutes);
        assert.deepEqual(counts, [300, 200, ...Array.from({ length: 100 }, () => undefined)], act);
      }
      await world.timePasses(10 * 60_000);
      await round();
      assert.equal((await entriesOf("revocation")).length, 103, "10 minutes later it is audited again");

      const ofUser = (await oauth.findClient(world.client.id))!;
      const refresh = async (refreshToken: string) =>
        (await oauth.tokens.refresh(ofUser, { refreshToken, requestedScopes: null }, "192.0.2.1")).refreshToken!;
      const first = (await world.tokens()).refresh_token;
      for (let count = 0; count < 130; count++) await refresh(await refresh(first));
      const siblings = (await entriesOf("refresh_siblings")).length;
      assert.equal(siblings, 100);
      await world.timePasses(120_000);
      await assert.rejects(refresh(first), InvalidGrant);
      assert.equal((await entriesOf("refresh_reuse")).length, 1);
      const { access_token } = await world.tokens();
      await oauth.tokens.revoke(ofUser, access_token, "192.0.2.1");
      assert.equal((await entriesOf("revocation"))[0]?.userId, world.userId);
    });
  });
}

describe("the limit of a user's grants to one client", () => {
  it("ends and reports nothing for the last grant that is allowed, and the oldest for one more", () =>
    onStore(sqliteHarness, async (store) => {
      const { tenantId, userId } = await makeHome(store);
      const reached: string[] = [];
      const limit = tokenLimits((name) => void reached.push(name));
      const grant = { tenantId, userId, clientId: "bwc_1", covers: "user" } as const;
      await store.transaction(async (tx) => {
        for (let n = 1; n < limits.grantsPerUserAndClient; n++) await tx.grants.add({ ...grant, id: `grant ${n}` });
        assert.deepEqual(await limit.ofUser(tx, userId, "bwc_1"), []);
        assert.deepEqual(reached, []);
        await tx.grants.add({ ...grant, id: "the last one" });
        assert.equal((await limit.ofUser(tx, userId, "bwc_1")).length, 1);
        assert.deepEqual(reached, ["grantsPerUserAndClient"]);
      });
    }));
});

describe("client authentications of one source", () => {
  it("are refused beyond 1,000 in progress, and the metric counts them", async (t) => {
    const world = await oauthWorld(t);
    const { oauth } = world.service.parts;
    const credentials = { clientId: world.client.id, secret: world.client.secret, source: "192.0.2.1" };
    const attempts = Array.from({ length: limits.clientAuthenticationsPerSource + 2 }, () =>
      oauth.authenticateClient(credentials),
    );
    const refused = (await Promise.allSettled(attempts)).flatMap((one) =>
      one.status === "rejected" ? one.reason : [],
    );
    assert.equal(refused.length, 2);
    assert.ok(refused.every((error) => error instanceof TooManyRequests));
    assert.match(
      (await world.get("/metrics")).body,
      /limit_reached_total\{limit="clientAuthenticationsPerSource"\} 2$/m,
    );
  });
});

describe("the audit of tokens", () => {
  const grant = {
    id: "grant 1",
    tenantId: 1,
    userId: null,
    clientId: "client",
    covers: "tenant",
    scope: null,
  } as never;

  /** Runs transactions that add an entry each; returns the numbers in the stored entries. */
  async function numbersOf(count: number, failureOf: (number: number) => Error | undefined, attempts = 1) {
    const audit = tokenAuditWith(() => 0);
    const stored: unknown[] = [];
    for (let number = 1; number <= count; number++) {
      const store = {
        async transaction<Result>(body: (tx: never) => Promise<Result>): Promise<Result> {
          const rows: { readonly detail: string }[] = [];
          const tx = { audit: { add: async (row: { readonly detail: string }) => void rows.push(row) } } as never;
          let result = await body(tx);
          for (let attempt = 1; attempt < attempts; attempt++) {
            rows.length = 0;
            result = await body(tx);
          }
          const failure = failureOf(number);
          if (failure) throw failure;
          stored.push(...rows.map(({ detail }) => JSON.parse(detail).inTenMinutes));
          return result;
        },
      };
      const body = (tx: never, add: AddTokenEntry) => add(tx, "client_credentials", grant, { source: "192.0.2.1" });
      await audit.transaction<never, void>(store, body).catch(() => undefined);
    }
    return stored;
  }
  const hundred = Array.from({ length: 100 }, () => undefined);

  it("does not count what is rolled back", async () => {
    const failing = (number: number) => (number <= 150 ? new StoreUnavailable("It is down.") : undefined);
    assert.deepEqual(await numbersOf(350, failing), [...hundred, 200]);
  });

  it("counts a transaction once whose body runs again", async () => {
    assert.deepEqual(await numbersOf(200, () => undefined, 3), [...hundred, 200]);
  });

  it("counts a transaction whose outcome is unknown", async () => {
    const failing = (number: number) => (number === 101 ? new OutcomeUnknown("It was not answered.") : undefined);
    assert.deepEqual(await numbersOf(200, failing), [...hundred, 200]);
  });

  it("writes the entry of one that is rolled back with the next, also when others were counted meanwhile", async () => {
    const audit = tokenAuditWith(() => 0);
    const stored: unknown[] = [];
    const run = async (ends: Promise<void> = Promise.resolve()) =>
      audit.transaction<never, void>(
        {
          async transaction(body) {
            const rows: unknown[] = [];
            const add = async ({ detail }: { readonly detail: string }) =>
              void rows.push(JSON.parse(detail).inTenMinutes);
            const result = await body({ audit: { add } } as never);
            await ends;
            stored.push(...rows);
            return result;
          },
        },
        (tx, add) => add(tx, "client_credentials", grant, { source: "192.0.2.1" }),
      );
    for (let number = 1; number < 200; number++) await run();
    const { promise, reject } = Promise.withResolvers<void>();
    const hundredth = run(promise);
    await run();
    reject(new StoreUnavailable("It is down."));
    await assert.rejects(hundredth);
    assert.deepEqual(stored, hundred);
    await run();
    await run();
    assert.deepEqual(stored, [...hundred, 201]);
  });
});

/** Tokens whose refresh token has a hash with such a first letter. */
async function tokenOfHash(tokens: () => Promise<Tokens>, isMeant: (first: string) => boolean): Promise<Tokens> {
  for (;;) {
    const found = await tokens();
    if (isMeant(hashOf(found.refresh_token).charAt(0))) return found;
  }
}
