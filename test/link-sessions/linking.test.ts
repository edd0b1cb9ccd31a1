import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Home } from "../../src/home/home.ts";
import { discardCredential } from "../../src/link-sessions/discarded-credential.ts";
import { summaryLine, summaryOf } from "../../src/link-sessions/home-summary.ts";
import { causeOfSession } from "../../src/link-sessions/session-calls.ts";
import { codeVerifier, openSecrets, sealSecrets } from "../../src/link-sessions/session-secrets.ts";
import { claimMs, isExpired, isWorkedOn, problemOf, statusOf } from "../../src/link-sessions/session-status.ts";
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
import type { LinkSessionRow } from "../../src/store/tables/link-sessions.ts";
import { flushPromises } from "../federation/manual-runtime.ts";
import { credential, device, madeSession, sealer, source, summary } from "./made-session.ts";

describe("the work on a link session", () => {
  it("exchanges the code, links the account, and keeps no credential", async (t) => {
    const { exchange, stored, calls, secrets, userId, told, identity } = await madeSession(t);
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
    const { exchange, stored, does, store, userId } = await madeSession(t);
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
    const { exchange, stored, does, store, userId, codeOf } = await madeSession(t);
    does.link = () => store.transaction((tx) => tx.linkSessions.signOut(userId));
    await exchange();
    const { phase, isSignedIn, deviceId, claimedMs, sealed, id } = await stored();
    assert.deepEqual([phase, isSignedIn, deviceId, claimedMs], ["unread", false, null, null]);
    assert.equal(await codeOf(), "interrupted");
    assert.deepEqual(openSecrets(sealer, { sealed, id } as LinkSessionRow).credential, credential);
  });

  it("makes no call while other calls of the user have no answer, and can go on later", async (t) => {
    const { exchange, stored, calls, codeOf, parts, session, runtime } = await madeSession(t);
    const { promise, resolve } = Promise.withResolvers<void>();
    const cause = causeOfSession(session, t.signal);
    const others = [1, 2].map((other) =>
      parts.outgoing.run({ ...cause, linkSession: `other ${other}` }, () => promise),
    );
    const exchanged = exchange();
    await flushPromises();
    await runtime.advance(5_000);
    await exchanged;
    assert.deepEqual([(await stored()).phase, await codeOf(), calls], ["open", "busy", []]);
    resolve();
    await Promise.all(others);
  });

  it("of a renewal relinks", async (t) => {
    const { exchange, calls } = await madeSession(t, { mode: "renew" });
    await exchange();
    assert.equal((calls[1] as unknown[])[0], "relink");
  });

  it("asks the user when the account is another one, and only the first time", async (t) => {
    const { exchange, stored, does, linking, session, runtime } = await madeSession(t, { mode: "renew" });
    does.link = () => Promise.reject(new AnotherAccount("nest"));
    await exchange();
    const asking = await stored();
    assert.deepEqual([asking.phase, asking.claimedMs, asking.summary], ["asking", null, JSON.stringify(summary)]);
    const { claimedMs } = session;
    await linking.readAccount({ session: { ...asking, claimedMs: null }, source }, true, new AbortController().signal);
    assert.equal(runtime.logLines.length, 1, "the user has decided: the federation is not asked to look");
    assert.notEqual(claimedMs, null);
  });

  for (const [what, fail, expected] of [
    ["refuses the code", { state: "refused", reason: "no" }, ["failed", "ecosystem_refused"]],
    ["does not answer", { state: "unanswered", detail: "none" }, ["open", "ecosystem_unreachable"]],
  ] as const) {
    it(`tells the user when the ecosystem ${what}`, async (t) => {
      const { exchange, stored, codeOf, does, calls } = await madeSession(t);
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
      const { exchange, stored, codeOf, does, told } = await madeSession(t);
      does.link = () => Promise.reject(error);
      await exchange();
      assert.deepEqual([(await stored()).phase, await codeOf()], [phase, code]);
      assert.notEqual(problemOf(await stored())?.description, "");
      assert.equal(told.appended, phase === "failed" ? 1 : 0);
    });
  }

  it("does not blame the ecosystem when this node stops", async (t) => {
    const { exchange, codeOf, does } = await madeSession(t);
    const stopping = new AbortController();
    does.exchange = async () => {
      stopping.abort();
      return { state: "unanswered", detail: "aborted" };
    };
    await exchange(stopping.signal);
    assert.equal(await codeOf(), "interrupted");
  });

  it("fails when the ecosystem has no link page any more", async (t) => {
    const { exchange, stored, codeOf } = await madeSession(t, { ecosystem: "gone" });
    await exchange();
    assert.deepEqual([(await stored()).phase, await codeOf()], ["failed", "ecosystem_refused"]);
  });

  it("leaves the session to another node that has claimed it, and to later while the store can't be used", async (t) => {
    const { exchange, stored, does, store, session, runtime } = await madeSession(t);
    const claimedMs = session.claimedMs! + 1;
    does.link = async () => {
      const current = await stored();
      await store.transaction((tx) => tx.linkSessions.save({ ...current, claimedMs }));
    };
    await exchange();
    assert.deepEqual([(await stored()).phase, (await stored()).claimedMs], ["reading", claimedMs]);
    assert.deepEqual(runtime.logLines, []);
    const down = await madeSession(t);
    down.does.link = () => Promise.reject(new StoreUnavailable("down"));
    await down.exchange();
    assert.equal((await down.stored()).phase, "reading");
    assert.deepEqual(down.runtime.logLines, []);
  });
});

describe("the claim of a link session", () => {
  it("is given once, and again when the node that has it is gone", async (t) => {
    const { store, session, clock, stored } = await madeSession(t, { phase: "open", claimedMs: null });
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
    const { store, session, userId, stored } = await madeSession(t, { phase: "open", claimedMs: null });
    await store.transaction((tx) => tx.linkSessions.signOut(userId));
    const claim = (read: LinkSessionRow) => claimSession({ store } as never, read, "exchanging", () => true);
    assert.equal(await claim(session), undefined);
    assert.equal((await claim(await stored()))?.phase, "exchanging", "the client vouches for its users");
  });

  it("keeps a session from expiring for two minutes", async (t) => {
    const { session } = await madeSession(t);
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

describe("the credential of a link session that links nothing", () => {
  it("is not revoked where that would end other consents", async (t) => {
    const { session, secrets, told, parts } = await madeSession(t);
    const withCredential = { ...session, sealed: sealSecrets(sealer, session.id, { ...secrets, credential }) };
    const { signal } = new AbortController();
    const [connector] = [...parts.connectors.values()] as Record<string, unknown>[];
    const others = { ...connector, revokesAllConsents: true } as never;
    await discardCredential({ sealer, connectors: new Map([["nest", others]]) }, withCredential, signal);
    await discardCredential({ sealer, connectors: new Map() }, withCredential, signal);
    await discardCredential(parts, session, signal);
    assert.deepEqual(told.revoked, []);
    const accessing = { ...connector, callTokenOf: () => "access" } as never;
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
