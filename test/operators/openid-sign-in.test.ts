import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { defaultFailureLimits } from "../../src/identity/failure-limits.ts";
import { auditedOneByOne } from "../../src/identity/sign-in.ts";
import { NotFound, NotSignedIn } from "../../src/model/errors.ts";
import { OpenIdRefused, OpenIdUnavailable } from "../../src/operators/openid/openid-errors.ts";
import { type OpenIdSignIn, openIdPatienceMs, openIdSignInOn } from "../../src/operators/openid/openid-sign-in.ts";
import type { Checks, Claims } from "../../src/operators/openid/provider.ts";
import type { RoleRule } from "../../src/operators/openid/role-rules.ts";
import { sessionLifetime } from "../../src/operators/sessions.ts";
import { madeOperators, origin } from "./made-operators.ts";

const ada: Claims = { iss: "https://id.example", sub: "17", email: "ada@example.com", groups: ["ops"] };
const viewers: RoleRule = { claim: "team", value: "acme", role: "viewer", tenants: ["Acme"] };
const rules: readonly RoleRule[] = [
  { claim: "groups", value: "ops", role: "owner", tenants: [] },
  viewers,
  { claim: "team", value: "gone", role: "viewer", tenants: ["Gone"] },
  { claim: "team", value: "bad", role: "tenantAdmin", tenants: [] },
];

/** Sign-ins at a provider that answers with the claims that the test gives it. */
async function made(t: TestContext) {
  const world = await madeOperators(t);
  const { store, clock, operators, tenantId } = world;
  const asked: unknown[] = [];
  let begun = 0;
  const provider = {
    claims: ada,
    error: undefined as Error | undefined,
  };
  const node = (): OpenIdSignIn =>
    openIdSignInOn({
      store,
      rules: [...rules, { claim: "team", value: "id", role: "viewer", tenants: [String(tenantId)] }],
      label: "Example ID",
      elapsedMs: () => clock.nowMs,
      redirectUri: () => "https://here/back",
      onLimitReached: () => undefined,
      sealer: {
        seal: (text, context) => `${context}: ${text}`,
        open(sealed, context) {
          if (!sealed.startsWith(`${context}: `)) throw new Error("not sealed here");
          return sealed.slice(context.length + 2);
        },
      },
      provider: {
        newChecks: (maxAgeSeconds) => ({ state: `s${++begun}`, nonce: "n", verifier: "v", maxAgeSeconds }),
        authorizeUrl: async (redirectUri, checks) =>
          `https://id.example/?to=${redirectUri}&max=${checks.maxAgeSeconds}`,
        async claims(answerUrl: string, checks: Checks) {
          asked.push([answerUrl, checks.state, checks.maxAgeSeconds]);
          if (provider.error) throw provider.error;
          return provider.claims;
        },
      },
    });
  const signIn = node();
  const enter = async (claims: Partial<Claims> = {}, confirms?: { sessionId: string; operatorId: never }) => {
    provider.claims = { ...ada, ...claims } as Claims;
    const { cookie } = await signIn.begin({ to: "/console", confirms });
    return signIn.finish({ query: "?code=c", cookie, ...origin });
  };
  const operatorOf = async (claims: Partial<Claims> = {}) => operators.bySession((await enter(claims)).session!);
  return { ...world, signIn, another: node(), provider, asked, enter, operatorOf };
}

describe("a sign-in at an OpenID provider", () => {
  it("makes the person an operator with the role of the first rule, and finds them again", async (t) => {
    const { signIn, enter, operatorOf, operators, asked, identity } = await made(t);
    assert.equal((await signIn.begin({ to: "/" })).location, "https://id.example/?to=https://here/back&max=undefined");
    const { to, session } = await enter();
    assert.equal(to, "/console");
    assert.deepEqual(asked, [["https://here/back?code=c", "s2", undefined]]);
    const first = await operators.bySession(session!);
    assert.deepEqual([first.name, first.role, first.reachesAll], ["ada@example.com", "owner", true]);
    const again = await operatorOf({ email: "other@example.com" });
    assert.deepEqual([again.operatorId, again.name], [first.operatorId, "ada@example.com"]);
    const [entry] = await identity.audit.list({ limit: 1 });
    assert.deepEqual([entry?.act, entry?.operator, entry?.source], ["operator_sign_in", first.name, origin.source]);
    assert.deepEqual(entry?.detail, { by: "Example ID", role: "owner" });
    assert.equal((await operators.find(first.name)).hasPassword, false);
  });

  it("is refused when the tenant of its role is removed at this moment", async (t) => {
    const { enter, store, tenantId, operators } = await made(t);
    const transaction = store.transaction.bind(store);
    const removing = t.mock.method(store, "transaction", ((...[body, options]: Parameters<typeof transaction>) =>
      transaction(async (tx) => {
        const list = tx.tenants.list.bind(tx.tenants);
        t.mock.method(tx.tenants, "list", async () => {
          const listed = await list();
          assert.equal(await tx.tenants.remove(tenantId), true);
          return listed;
        });
        return body(tx);
      }, options)) as typeof transaction);
    await assert.rejects(
      enter({ groups: [], team: "acme" }),
      /^OpenIdRefused: .*the tenant Acme, which does not exist/,
    );
    removing.mock.restore();
    assert.deepEqual(await operators.list(), []);
  });

  it("changes role and tenants with the claims", async (t) => {
    const { operatorOf, tenantId } = await made(t);
    await operatorOf();
    for (const team of ["acme", "id"]) {
      const changed = await operatorOf({ groups: [], team });
      assert.deepEqual([changed.role, changed.reachesAll, changed.tenantIds], ["viewer", false, [tenantId]]);
    }
  });

  it("ends the waiting invitations of an owner whom the claims make something else", async (t) => {
    const { enter, operatorOf, operators, identity, tenantId } = await made(t);
    const viewer = { role: "viewer", tenantIds: [tenantId] };
    await operatorOf();
    const invitation = await operators.invite(viewer);
    const claim = await operators.claimLink();
    await enter();
    await operators.openLink("invitation", invitation);

    await enter({ groups: [], team: "acme" });
    await assert.rejects(operators.openLink("invitation", invitation), NotFound);
    await operators.openLink("claim", claim);
    const [entry] = await identity.audit.list({ limit: 1 });
    assert.deepEqual(entry?.detail, { by: "Example ID", role: "viewer", invitationsEnded: 1 });

    const later = await operators.invite(viewer);
    await enter({ groups: [], team: "id" });
    await enter();
    await operators.openLink("invitation", later);
  });

  it("is refused without a rule, with a rule that can't be kept, and for a suspended operator", async (t) => {
    const { enter, operatorOf, operators, join } = await made(t);
    await assert.rejects(enter({ groups: [] }), /^OpenIdRefused: Example ID knows you, but no rule/);
    await assert.rejects(
      enter({ groups: [], team: "gone" }),
      /^OpenIdRefused: .*the tenant Gone, which does not exist/,
    );
    await assert.rejects(enter({ groups: [], team: "bad" }), /^OpenIdRefused: A tenantAdmin needs/);
    assert.deepEqual(await operators.list(), []);
    await join("grace");
    const { operatorId } = await operatorOf();
    await operators.suspend(operatorId);
    await assert.rejects(enter(), /^OpenIdRefused: The operator ada@example\.com is suspended/);
  });

  for (const [why, claims] of Object.entries({
    "no rule fits any more": { groups: [] },
    "the rule names a tenant that does not exist": { groups: [], team: "gone" },
    "the rule can't be kept": { groups: [], team: "bad" },
  })) {
    it(`suspends an operator when ${why}, until claims give access again`, async (t) => {
      const { enter, operators, join, identity, tenantId } = await made(t);
      const grace = await join("grace");
      const session = (await enter()).session!;
      const { operatorId } = await operators.bySession(session);
      const { secret } = await operators.addToken(operatorId, { name: "ci", days: 366 });
      const invitation = await operators.invite({ role: "viewer", tenantIds: [tenantId] });

      await assert.rejects(enter(claims), OpenIdRefused);
      await assert.rejects(operators.bySession(session), NotSignedIn);
      await assert.rejects(operators.byToken(secret), NotSignedIn);
      await assert.rejects(operators.openLink("invitation", invitation), NotFound);
      assert.equal((await operators.find("ada@example.com")).isSuspended, true);
      const entries = await identity.audit.list({ act: "operator_sign_in_failed", limit: 10 });
      const ended = { sessionsEnded: 1, tokensEnded: 1, invitationsEnded: 1 };
      assert.equal(entries.length, 1);
      const { reason, ...detail } = entries[0]!.detail;
      assert.deepEqual(detail, { by: "Example ID", suspended: true, ...ended });
      assert.equal(typeof reason, "string");
      assert.equal(entries[0]!.operator, "ada@example.com");
      await assert.rejects(operators.remove(grace.operator.operatorId), /grace is the only owner who can sign in/);

      await assert.rejects(enter(claims), OpenIdRefused);
      const [again] = await identity.audit.list({ act: "operator_sign_in_failed", limit: 1 });
      assert.equal(again?.detail.suspended, undefined, "nothing is left to end");
      const back = await operators.bySession((await enter()).session!);
      assert.deepEqual([back.operatorId, back.role], [operatorId, "owner"]);
      await assert.rejects(operators.byToken(secret), NotSignedIn, "the token has ended");
    });
  }

  it("does not lift the suspension by an operator, also not when the claims came first", async (t) => {
    const { enter, operatorOf, operators, join } = await made(t);
    await join("grace");
    const { operatorId } = await operatorOf();
    await assert.rejects(enter({ groups: [] }), /no rule makes you/);
    await operators.suspend(operatorId);
    await assert.rejects(enter({ groups: [] }), /no rule makes you/);
    await assert.rejects(enter(), /ada@example\.com is suspended/);
    await operators.resume(operatorId);
    await operatorOf();
  });

  it("leaves an operator with a password as they are: the way back in does not depend on claims", async (t) => {
    const { enter, operatorOf, operators } = await made(t);
    const { name } = await operatorOf();
    const claim = { name, password: "correct horse", tenant: "", ...origin };
    const session = await operators.takeLink("claim", await operators.claimLink(), claim);
    await assert.rejects(enter({ groups: [] }), /no rule makes you/);
    assert.equal((await operators.bySession(session)).role, "owner");
  });

  it("brings back the only owner, whom the claims suspended, with a claim link", async (t) => {
    const { enter, operatorOf, operators } = await made(t);
    const { name } = await operatorOf();
    await assert.rejects(enter({ groups: [] }), /no rule makes you/);
    const claim = { name, password: "correct horse", tenant: "", ...origin };
    const session = await operators.takeLink("claim", await operators.claimLink(), claim);
    assert.equal((await operators.bySession(session)).role, "owner");
  });

  it("is refused when the tenant of its rule is replaced by another one with its id at this moment", async (t) => {
    const { enter, store, tenantId, operators } = await made(t);
    const transaction = store.transaction.bind(store);
    const changes = [{ name: "Other" }, { createdMs: 1 }];
    for (const change of changes) {
      const replacing = t.mock.method(store, "transaction", ((...[body, options]: Parameters<typeof transaction>) =>
        transaction(async (tx) => {
          const hold = tx.tenants.hold.bind(tx.tenants);
          t.mock.method(tx.tenants, "hold", async (id: typeof tenantId) => ({ ...(await hold(id))!, ...change }));
          return body(tx);
        }, options)) as typeof transaction);
      await assert.rejects(enter({ groups: [], team: "acme" }), /the tenant Acme, which does not exist/);
      replacing.mock.restore();
    }
    assert.deepEqual(await operators.list(), []);
  });

  it("leaves an entry in the audit log when it is refused, with the name of a known operator only", async (t) => {
    const { enter, operatorOf, operators, join, identity } = await made(t);
    await join("grace");
    const { operatorId } = await operatorOf();
    await operators.suspend(operatorId);
    for (const claims of [{ groups: [] }, { groups: [], team: "gone", sub: "18" }, {}]) {
      await assert.rejects(enter(claims), OpenIdRefused);
    }
    const entries = (await identity.audit.list({ act: "operator_sign_in_failed", limit: 10 })).map((entry) => {
      return [entry.operator, entry.source, entry.detail];
    });
    const by = "Example ID";
    assert.deepEqual(entries, [
      ["ada@example.com", origin.source, { by, reason: "The operator ada@example.com is suspended." }],
      [
        null,
        origin.source,
        { by, subject: "18", reason: "The rule for your role names the tenant Gone, which does not exist." },
      ],
      [
        "ada@example.com",
        origin.source,
        { by, reason: "Example ID knows you, but no rule makes you an operator of this Breezeway." },
      ],
    ]);
  });

  it("leaves few entries when one address is refused again and again", async (t) => {
    const { enter, identity, clock } = await made(t);
    const refuse = async (times: number) => {
      for (let n = 0; n < times; n++) await assert.rejects(enter({ groups: [] }), OpenIdRefused);
    };
    const count = async () => (await identity.audit.list({ act: "operator_sign_in_failed", limit: 1_000 })).length;
    await refuse(auditedOneByOne + 99);
    assert.equal(await count(), auditedOneByOne);
    await refuse(1);
    const [last] = await identity.audit.list({ limit: 1 });
    assert.deepEqual([await count(), last?.detail.failuresOfSource], [auditedOneByOne + 1, 200]);
    clock.nowMs += 10 * 60_000;
    await refuse(1);
    assert.equal(await count(), auditedOneByOne + 2);
  });

  it("takes the first name that an operator may have, and numbers one that is taken", async (t) => {
    const { operatorOf, join } = await made(t);
    await join("ada@example.com");
    const names: unknown[] = [];
    for (const [sub, claims] of Object.entries({
      taken: {},
      "taken too": {},
      unverified: { email_verified: false, preferred_username: "ada" },
      digits: { email: "17", preferred_username: 5, name: "Ada L." },
      "a subject": { email: undefined },
      local: { email: "local" },
    })) {
      names.push((await operatorOf({ ...claims, sub } as Partial<Claims>)).name);
    }
    assert.deepEqual(names, [
      ...["ada@example.com (2)", "ada@example.com (3)", "ada", "Ada L.", "a subject", "OpenID operator"],
    ]);
  });

  it("belongs to the browser that began it, for ten minutes", async (t) => {
    const { signIn, clock } = await made(t);
    const { cookie } = await signIn.begin({ to: "/console" });
    const finish = (value: string | undefined) => signIn.finish({ query: "?code=c", cookie: value, ...origin });
    for (const value of [undefined, "forged", "operator openid: {"]) await assert.rejects(finish(value), OpenIdRefused);
    clock.nowMs += openIdPatienceMs - 1;
    await finish(cookie);
    clock.nowMs += 1;
    await assert.rejects(finish(cookie), OpenIdRefused);
  });

  it("is finished once, whether it succeeds or fails, also at another node", async (t) => {
    const { signIn, another, provider, asked } = await made(t);
    const { cookie } = await signIn.begin({ to: "/console" });
    const answer = { query: "?code=c", cookie, ...origin };
    const refusal = { name: "OpenIdRefused", message: "This sign-in was used already." };
    const both = await Promise.allSettled([signIn.finish(answer), another.finish(answer)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    for (const node of [signIn, another]) await assert.rejects(node.finish(answer), refusal);
    assert.equal(asked.length, 1);
    provider.error = new OpenIdUnavailable("down");
    const failing = { ...answer, cookie: (await signIn.begin({ to: "/console" })).cookie };
    await assert.rejects(signIn.finish(failing), OpenIdUnavailable);
    provider.error = undefined;
    await assert.rejects(another.finish(failing), refusal);
    assert.equal(asked.length, 2);
  });

  it("leaves a bounded number of marks for one address, and none after an hour", async (t) => {
    const { signIn, identity, store, clock } = await made(t);
    const finish = async (source: string) => {
      const { cookie } = await signIn.begin({ to: "/console" });
      await signIn.finish({ query: "?code=c", cookie, ...origin, source });
      return cookie;
    };
    const { failuresPerSource, forgetAfterMs } = defaultFailureLimits;
    for (let count = 0; count < failuresPerSource; count++) await finish("192.0.2.1");
    await assert.rejects(finish("192.0.2.1"), /Too many sign-ins came from your address/);
    const cookie = await finish("192.0.2.2");
    clock.nowMs += openIdPatienceMs - 1;
    await identity.sweep();
    await assert.rejects(signIn.finish({ query: "?code=c", cookie, ...origin }), /used already/);
    clock.nowMs += forgetAfterMs;
    await identity.sweep();
    assert.equal(await store.transaction((tx) => tx.failureCounts.removeQuiet(0)), 0);
  });

  it("passes on that the provider can't be reached", async (t) => {
    const { enter, provider } = await made(t);
    provider.error = new OpenIdUnavailable("down");
    await assert.rejects(enter(), OpenIdUnavailable);
  });

  it("confirms a session of the same person only, who has just signed in", async (t) => {
    const { enter, operators, signIn, clock, asked, identity } = await made(t);
    const session = (await enter({ auth_time: clock.nowMs / 1_000 })).session!;
    const { by, operatorId } = await operators.bySession(session);
    const isConfirmed = async () => {
      const { by: now } = await operators.bySession(session, false);
      return now.kind === "session" && now.isConfirmed;
    };
    assert.equal(await isConfirmed(), true);
    clock.nowMs += sessionLifetime.confirmedMs;
    assert.equal(await isConfirmed(), false);
    const confirms = { sessionId: by.id, operatorId: operatorId as never };
    assert.match((await signIn.begin({ to: "/", confirms })).location, /max=60$/);
    await assert.rejects(enter({ sub: "18" }, confirms), OpenIdRefused);
    await assert.rejects(enter({}, { ...confirms, sessionId: "os_none" }), OpenIdRefused);
    assert.equal(await isConfirmed(), false);
    assert.deepEqual(await enter({}, confirms), { to: "/console", session: undefined });
    assert.equal(await isConfirmed(), true);
    assert.deepEqual(asked.at(-1), ["https://here/back?code=c", "s5", 60]);
    const [entry] = await identity.audit.list({ limit: 1 });
    assert.deepEqual([entry?.act, entry?.operator], ["operator_password", "ada@example.com"]);
    clock.nowMs += sessionLifetime.idleMs;
    await assert.rejects(enter({}, confirms), OpenIdRefused);
    await assert.rejects(operators.bySession(session), NotSignedIn);
  });

  it("opens a session that is not confirmed when the provider does not say when the person signed in", async (t) => {
    const { operatorOf } = await made(t);
    const { by } = await operatorOf();
    assert.equal(by.kind === "session" && by.isConfirmed, false);
  });
});
