import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { ConsentAnswer, ConsentOutcome } from "../../src/ecosystems/consent.ts";
import type { Home } from "../../src/home/home.ts";
import { discardCredential } from "../../src/link-sessions/discarded-credential.ts";
import { summaryLine, summaryOf } from "../../src/link-sessions/home-summary.ts";
import { linkSessionsOn } from "../../src/link-sessions/link-sessions.ts";
import { type LinkingParts, linkingWith } from "../../src/link-sessions/linking.ts";
import { codeVerifier, newSessionSecrets, openSecrets, sealSecrets } from "../../src/link-sessions/session-secrets.ts";
import { claimMs, isExpired, isWorkedOn, problemOf, statusOf } from "../../src/link-sessions/session-status.ts";
import { sessionKeptMs, sweepSessions } from "../../src/link-sessions/session-sweep.ts";
import { SessionWork } from "../../src/link-sessions/session-work.ts";
import { claimSession } from "../../src/link-sessions/steps/claim.ts";
import {
  AlreadyFederated,
  AnotherAccount,
  EcosystemRefused,
  EcosystemUnreachable,
  NotFederated,
  StoreUnavailable,
  TooManyRequests,
} from "../../src/model/errors.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import type { LinkSessionRow } from "../../src/store/tables/link-sessions.ts";
import { until } from "../federation/made-fans.ts";
import { movedRuntime } from "../federation/moved-runtime.ts";
import { madeAlice } from "../identity/made-identity.ts";

const sealer = {
  seal: (text: string, context: string) => `${context}: ${text}`,
  open: (sealed: string, context: string) => {
    assert.ok(sealed.startsWith(`${context}: `), "opened for another session");
    return sealed.slice(context.length + 2);
  },
};
const credential = { accessToken: "token", refreshToken: "next", expiresMs: 5 } as never;
const noThings = { isWhole: true, byId: new Map() };
const home = {
  structures: { isWhole: true, byId: new Map([["s", { isRead: true, object: { name: "Maple" } }]]) },
  thermostats: noThings,
  alarms: noThings,
} as unknown as Home;
const summary = [{ name: "Maple", thermostats: 0, alarms: 0, others: 0 }];
const source = "192.0.2.1";
const device = 11 as DeviceId;

/** A session of alice on a store, that a node has claimed, with an ecosystem and a federation that do as they are told. */
async function made(t: TestContext, fields: Partial<LinkSessionRow> = {}) {
  const { store, clock, tenantId, userId, identity } = await madeAlice(t);
  const secrets = { ...newSessionSecrets(), address: "typed", canonicalAddress: "canonical" };
  const session: LinkSessionRow = {
    ...{ ownerId: userId, id: "ls_1", tenantId, clientId: "bwc_1", userId, ecosystem: "nest", mode: "link" },
    ...{ returnUrl: null, clientState: null, tokenHash: "t", stateHash: "s", browserHash: "b", isSignedIn: true },
    ...{ attempt: 1, phase: "exchanging", claimedMs: clock.nowMs, problem: "{}", deviceId: null, summary: null },
    ...{ createdMs: clock.nowMs, expiresMs: clock.nowMs + 1_000, sealed: sealSecrets(sealer, "ls_1", secrets) },
    ...fields,
  };
  await store.transaction((tx) => tx.linkSessions.add(session));
  const does = {
    exchange: async (_: ConsentAnswer): Promise<ConsentOutcome> => ({ state: "granted", credential }),
    link: async (): Promise<void> => undefined,
  };
  const calls: unknown[] = [];
  const told = { appended: 0, revoked: [] as unknown[] };
  const connector = {
    consent: {
      exchange(answer: ConsentAnswer) {
        calls.push(answer);
        return does.exchange(answer);
      },
    },
    revoke: async (access: string, _: AbortSignal, whole: unknown) => void told.revoked.push(access, whole),
  };
  const act =
    (name: string) =>
    async (...[user, ecosystem, given, , options]: Parameters<LinkingParts["federation"]["link"]>) => {
      calls.push([name, user, ecosystem, given]);
      try {
        await does.link();
      } catch (error) {
        if (error instanceof AnotherAccount && !options?.onAnotherAccount) throw new Error("may be another");
        options?.onAnotherAccount?.(home);
        throw error;
      }
      await store.transaction((tx) => options!.also!(tx, device, home));
      return device;
    };
  const runtime = movedRuntime();
  const parts = {
    ...{ store, sealer, runtime, report: runtime.report, redirectUri: () => "https://here/callback" },
    connectors: new Map([["nest", connector as never]]),
    federation: { link: act("link"), relink: act("relink") },
    appended: () => void told.appended++,
  };
  const linking = linkingWith(parts);
  const stored = async () => (await store.read((tx) => tx.linkSessions.find(session)))!;
  const exchange = (signal = new AbortController().signal) =>
    linking.exchange({ session, source }, { code: "code", attempt: 0 }, signal);
  const codeOf = async () => problemOf(await stored())?.code;
  return {
    store,
    clock,
    userId,
    identity,
    session,
    secrets,
    does,
    calls,
    told,
    runtime,
    linking,
    stored,
    exchange,
    codeOf,
    parts,
  };
}

describe("the work on a link session", () => {
  it("exchanges the code, links the account, and keeps no credential", async (t) => {
    const { exchange, stored, calls, secrets, userId, told, identity } = await made(t);
    await exchange();
    const after = await stored();
    assert.deepEqual(
      [after.phase, after.deviceId, after.summary, after.problem, after.claimedMs],
      ["linked", device, JSON.stringify(summary), null, null],
    );
    assert.deepEqual(openSecrets(sealer, after), secrets);
    assert.deepEqual(calls, [
      {
        ...{ code: "code", redirectUri: "https://here/callback" },
        codeVerifier: codeVerifier(secrets, 0),
        address: "canonical",
      },
      ["link", userId, "nest", credential],
    ]);
    assert.equal(told.appended, 1);
    const [entry] = await identity.audit.list({ limit: 1 });
    assert.deepEqual([entry?.act, entry?.clientId, entry?.source], ["link_session", "bwc_1", source]);
    assert.deepEqual(entry?.detail, { ecosystem: "nest", mode: "link", status: "linked" });
  });

  it("does not sign in again a user who signs out meanwhile", async (t) => {
    const { exchange, stored, does, store, userId } = await made(t);
    does.exchange = async () => {
      await store.transaction((tx) => tx.linkSessions.signOut(userId));
      return { state: "granted", credential };
    };
    does.link = () => Promise.reject(new EcosystemUnreachable("no answer"));
    await exchange();
    const { phase, isSignedIn, sealed, id } = await stored();
    assert.deepEqual([phase, isSignedIn], ["unread", false]);
    assert.deepEqual(openSecrets(sealer, { sealed, id } as LinkSessionRow).credential, credential);
  });

  it("links nothing for a user who is signed out meanwhile, and can go on after a sign-in", async (t) => {
    const { exchange, stored, does, store, userId, codeOf } = await made(t);
    does.link = () => store.transaction((tx) => tx.linkSessions.signOut(userId));
    await exchange();
    const { phase, isSignedIn, deviceId, claimedMs, sealed, id } = await stored();
    assert.deepEqual([phase, isSignedIn, deviceId, claimedMs], ["unread", false, null, null]);
    assert.equal(await codeOf(), "interrupted");
    assert.deepEqual(openSecrets(sealer, { sealed, id } as LinkSessionRow).credential, credential);
  });

  it("of a renewal relinks", async (t) => {
    const { exchange, calls } = await made(t, { mode: "renew" });
    await exchange();
    assert.equal((calls[1] as unknown[])[0], "relink");
  });

  it("asks the user when the account is another one, and only the first time", async (t) => {
    const { exchange, stored, does, linking, session, runtime } = await made(t, { mode: "renew" });
    does.link = () => Promise.reject(new AnotherAccount("nest"));
    await exchange();
    const asking = await stored();
    assert.deepEqual([asking.phase, asking.claimedMs, asking.summary], ["asking", null, JSON.stringify(summary)]);
    const { claimedMs } = session;
    await linking.readAccount({ session: { ...asking, claimedMs: null }, source }, true, new AbortController().signal);
    assert.equal(runtime.said.length, 1, "the user has decided: the federation is not asked to look");
    assert.notEqual(claimedMs, null);
  });

  for (const [what, fail, expected] of [
    ["refuses the code", { state: "refused", reason: "no" }, ["failed", "ecosystem_refused"]],
    ["does not answer", { state: "unanswered", detail: "none" }, ["open", "ecosystem_unreachable"]],
  ] as const) {
    it(`tells the user when the ecosystem ${what}`, async (t) => {
      const { exchange, stored, codeOf, does, calls } = await made(t);
      does.exchange = async () => fail;
      await exchange();
      const { phase, claimedMs } = await stored();
      assert.deepEqual([phase, await codeOf(), claimedMs], [...expected, null]);
      assert.equal(calls.length, 1);
    });
  }

  for (const [error, phase, code] of [
    [new EcosystemRefused("no"), "failed", "ecosystem_refused"],
    [new EcosystemUnreachable("none"), "unread", "ecosystem_unreachable"],
    [new TooManyRequests(5, "Other tokens are being verified."), "unread", "busy"],
    [new AlreadyFederated("nest"), "failed", "already_linked"],
    [new NotFederated("nest"), "failed", "not_linked"],
    [new Error("a defect"), "failed", "internal_error"],
  ] as const) {
    it(`stores how it ended: ${code}`, async (t) => {
      const { exchange, stored, codeOf, does, told } = await made(t);
      does.link = () => Promise.reject(error);
      await exchange();
      assert.deepEqual([(await stored()).phase, await codeOf()], [phase, code]);
      assert.notEqual(problemOf(await stored())?.description, "");
      assert.equal(told.appended, phase === "failed" ? 1 : 0);
    });
  }

  it("does not blame the ecosystem when this node stops", async (t) => {
    const { exchange, codeOf, does } = await made(t);
    const stopping = new AbortController();
    does.exchange = async () => {
      stopping.abort();
      return { state: "unanswered", detail: "aborted" };
    };
    await exchange(stopping.signal);
    assert.equal(await codeOf(), "interrupted");
  });

  it("fails when the ecosystem has no link page any more", async (t) => {
    const { exchange, stored, codeOf } = await made(t, { ecosystem: "gone" });
    await exchange();
    assert.deepEqual([(await stored()).phase, await codeOf()], ["failed", "ecosystem_refused"]);
  });

  it("leaves the session to another node that has claimed it, and to later while the store can't be used", async (t) => {
    const { exchange, stored, does, store, session, runtime } = await made(t);
    const claimedMs = session.claimedMs! + 1;
    does.link = async () => {
      const current = await stored();
      await store.transaction((tx) => tx.linkSessions.save({ ...current, claimedMs }));
    };
    await exchange();
    assert.deepEqual([(await stored()).phase, (await stored()).claimedMs], ["reading", claimedMs]);
    assert.deepEqual(runtime.said, []);
    const down = await made(t);
    down.does.link = () => Promise.reject(new StoreUnavailable("down"));
    await down.exchange();
    assert.equal((await down.stored()).phase, "reading");
    assert.deepEqual(down.runtime.said, []);
  });
});

describe("the claim of a link session", () => {
  it("is given once, and again when the node that has it is gone", async (t) => {
    const { store, session, clock, stored } = await made(t, { phase: "open", claimedMs: null });
    const claim = (mayClaim = true, phase: "exchanging" | "reading" = "exchanging") =>
      claimSession({ store } as never, session, phase, () => mayClaim);
    assert.equal(await claim(false), undefined);
    const first = await claim();
    assert.deepEqual([first?.phase, first?.attempt, first?.claimedMs], ["exchanging", 2, clock.nowMs]);
    assert.deepEqual(await stored(), first);
    assert.equal(await claim(), undefined);
    await store.transaction((tx) => tx.linkSessions.save({ ...first!, phase: "unread" }));
    const second = await claim(true, "reading");
    assert.deepEqual([second?.attempt, second?.claimedMs], [2, clock.nowMs + 1], "no two claims are the same");
    clock.nowMs += claimMs;
    assert.equal(await claim(), undefined, "it has expired before the claim ended");
  });

  it("is not given when the user was signed out since the session was read", async (t) => {
    const { store, session, userId, stored } = await made(t, { phase: "open", claimedMs: null });
    await store.transaction((tx) => tx.linkSessions.signOut(userId));
    const claim = (read: LinkSessionRow) => claimSession({ store } as never, read, "exchanging", () => true);
    assert.equal(await claim(session), undefined);
    assert.equal((await claim(await stored()))?.phase, "exchanging", "the client vouches for its users");
  });

  it("keeps a session from expiring for two minutes", async (t) => {
    const { session } = await made(t);
    const { claimedMs, expiresMs } = session;
    const endMs = claimedMs! + claimMs;
    assert.deepEqual([isWorkedOn(session, endMs - 1), isWorkedOn(session, endMs)], [true, false]);
    assert.deepEqual([isExpired(session, endMs - 1), isExpired(session, endMs)], [false, true]);
    const open = { ...session, phase: "open" } as const;
    assert.deepEqual([isExpired(open, expiresMs - 1), isExpired(open, expiresMs)], [false, true]);
    assert.deepEqual([statusOf(open, expiresMs - 1), statusOf(open, expiresMs)], ["pending", "expired"]);
    assert.equal(statusOf({ ...open, phase: "declined" }, expiresMs), "declined");
    assert.equal(isWorkedOn({ ...session, claimedMs: null }, 0), false);
  });
});

describe("a link session whose time is over", () => {
  it("is told by the running service, and one that a node works on is not", async (t) => {
    const { clock, session, told, parts, runtime, identity, stored } = await made(t, {
      phase: "open",
      claimedMs: null,
    });
    const worked = { ...session, id: "ls_2", phase: "reading", claimedMs: clock.nowMs + 900 } as const;
    await parts.store.transaction((tx) => tx.linkSessions.add({ ...worked, tokenHash: "t2", stateHash: "s2" }));
    const sessions = linkSessionsOn({ ...parts, identity, clients: {} as never, baseUrl: () => "https://here" });
    await sessions.start();
    t.after(() => sessions.stop());
    // On SQLite the start of a node releases all claims.
    await parts.store.transaction((tx) => tx.linkSessions.save(worked));
    await runtime.advance(60_000);
    assert.equal((await stored()).phase, "open");
    clock.nowMs = session.expiresMs;
    await runtime.advance(60_000);
    await until(async () => assert.equal((await stored()).phase, "expired"));
    await until(() => assert.equal(told.appended, 1));
    assert.equal((await parts.store.read((tx) => tx.linkSessions.find(worked)))?.phase, "reading");
  });
});

describe("the credential of a link session that links nothing", () => {
  it("is revoked and forgotten when the session has expired, and the row is removed a day later", async (t) => {
    const { store, clock, session, secrets, told, parts, stored } = await made(t, { phase: "unread", claimedMs: null });
    const sealed = sealSecrets(sealer, session.id, { ...secrets, credential });
    await store.transaction((tx) => tx.linkSessions.save({ ...session, sealed }));
    const sweep = () => sweepSessions(parts, new AbortController().signal);
    assert.equal(await sweep(), 0);
    assert.deepEqual(told.revoked, []);
    clock.nowMs = session.expiresMs;
    assert.equal(await sweep(), 0);
    assert.deepEqual(told.revoked, ["token", credential]);
    assert.equal(told.appended, 1);
    assert.equal(openSecrets(sealer, await stored()).credential, undefined);
    await sweep();
    assert.deepEqual([told.revoked.length, told.appended], [2, 1]);
    clock.nowMs = session.expiresMs + sessionKeptMs + 1;
    assert.equal(await sweep(), 1);
    assert.equal(await stored(), undefined);
  });

  it("that can't be opened keeps no other old session from being removed", async (t) => {
    const { store, clock, session, parts } = await made(t, { phase: "reading", claimedMs: null });
    const other = { ...session, id: "ls_2", phase: "open", tokenHash: "t2", stateHash: "s2" } as const;
    await store.transaction((tx) => tx.linkSessions.add(other));
    const open = () => assert.fail("no key");
    clock.nowMs = session.expiresMs + sessionKeptMs + claimMs + 1;
    assert.equal(await sweepSessions({ ...parts, sealer: { ...sealer, open } }, new AbortController().signal), 2);
  });

  it("is not revoked where that would end other consents", async (t) => {
    const { session, secrets, told, parts } = await made(t);
    const withCredential = { ...session, sealed: sealSecrets(sealer, session.id, { ...secrets, credential }) };
    const { signal } = new AbortController();
    const [connector] = [...parts.connectors.values()] as Record<string, unknown>[];
    const others = { ...connector, revokesAllConsents: true } as never;
    await discardCredential({ sealer, connectors: new Map([["nest", others]]) }, withCredential, signal);
    await discardCredential({ sealer, connectors: new Map() }, withCredential, signal);
    await discardCredential(parts, session, signal);
    assert.deepEqual(told.revoked, []);
    const accessing = { ...connector, accessOf: () => "access" } as never;
    await discardCredential({ sealer, connectors: new Map([["nest", accessing]]) }, withCredential, signal);
    assert.deepEqual(told.revoked, ["access", credential]);
  });
});

describe("the work on a link session", () => {
  it("that fails unexpectedly is reported, and does not stop the node", async () => {
    const reported: unknown[] = [];
    const work = new SessionWork({ error: (...line: readonly unknown[]) => void reported.push(line) });
    const error = new Error("no key");
    work.start("ls_1", () => Promise.reject(error));
    await work.settled("ls_1");
    assert.deepEqual(reported, [[{ linkSession: "ls_1", error }, "the work on a link session failed"]]);
  });
});

describe("the summary of a home", () => {
  const thing = (structureId: string | null) => ({ isRead: true, object: { structureId } });
  const hidden = (structureId: string) => ({ isRead: false, partial: { structureId } });
  const listing = (...things: readonly object[]) => ({
    isWhole: true,
    byId: new Map(things.map((one, i) => [`${i}`, one])),
  });
  const homeOf = (structures: Readonly<Record<string, object>>, more: object) =>
    ({ structures: { isWhole: true, byId: new Map(Object.entries(structures)) }, ...more }) as unknown as Home;
  const read = (name: string) => ({ isRead: true, object: { name } });

  it("counts the things of each structure, and all of them in an account of one", () => {
    const things = {
      thermostats: listing(thing("a"), thing("b"), hidden("a")),
      alarms: listing(thing("b"), thing(null)),
    };
    assert.deepEqual(summaryOf(homeOf({ a: read("A"), b: { isRead: false, partial: {} } }, things)), [
      { name: "A", thermostats: 2, alarms: 0, others: 0 },
      { name: null, thermostats: 1, alarms: 1, others: 0 },
    ]);
    assert.deepEqual(summaryOf(homeOf({ a: read("A") }, { ...things, others: listing(thing(null)) })), [
      { name: "A", thermostats: 3, alarms: 2, others: 1 },
    ]);
  });

  it("has five structures and a hundred characters of a name at most", () => {
    const structures = Object.fromEntries([..."abcdef"].map((id) => [id, read("é".repeat(101))]));
    const summaries = summaryOf(homeOf(structures, { thermostats: listing(), alarms: listing() }));
    assert.deepEqual([summaries.length, summaries[0]?.name], [5, "é".repeat(100)]);
  });

  it("is a line that a person reads", () => {
    const nothing = { name: null, thermostats: 0, alarms: 0, others: 0 };
    assert.deepEqual(
      [
        nothing,
        { ...nothing, name: "Maple", thermostats: 1, alarms: 2 },
        { ...nothing, alarms: 1, others: 1 },
        { ...nothing, others: 2 },
      ].map(summaryLine),
      [
        "Your home: no devices that can be shown",
        "Maple: 1 thermostat, 2 alarms",
        "Your home: 1 alarm, 1 other thing",
        "Your home: 2 things",
      ],
    );
  });
});
