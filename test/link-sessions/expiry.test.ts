import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { linkSessionsOn } from "../../src/link-sessions/link-sessions.ts";
import { expireSessions } from "../../src/link-sessions/session-expiry.ts";
import { openSecrets, sealSecrets } from "../../src/link-sessions/session-secrets.ts";
import { claimMs, sessionAheadMs, sessionMs, statusOf } from "../../src/link-sessions/session-status.ts";
import { sessionKeptMs, sweepSessions, unrevokedKeptMs } from "../../src/link-sessions/session-sweep.ts";
import { claimSession } from "../../src/link-sessions/steps/claim.ts";
import { discardCredentials } from "../../src/link-sessions/unlinked-credentials.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import type { OwnerId } from "../../src/model/ids.ts";
import type { LinkSessionRow } from "../../src/store/tables/link-sessions.ts";
import { logStart } from "../../src/store/tables/log-position.ts";
import { until } from "../federation/made-fans.ts";
import { madeSession, sealer } from "./made-session.ts";

const unending = () => new AbortController().signal;

/** Sessions whose time is over at `clock.nowMs`. The first one is `open`. */
async function madeExpiring(t: TestContext) {
  const made = await madeSession(t, { phase: "open", claimedMs: null, problem: null });
  const { store, session, secrets, parts, clock } = made;
  const add = async (id: string, fields: Partial<LinkSessionRow> = {}): Promise<LinkSessionRow> => {
    const added = { ...session, id, tokenHash: id, stateHash: id, sealed: sealSecrets(sealer, id, secrets), ...fields };
    await store.transaction((tx) => tx.linkSessions.add(added));
    return added;
  };
  /** A session whose user left the page before the account was linked. */
  const addUnread = (id: string, fields: Partial<LinkSessionRow> = {}) => {
    const whole = { ...secrets, credential: { accessToken: `token of ${id}` } };
    return add(id, { phase: "unread", sealed: sealSecrets(sealer, id, whole), ...fields });
  };
  const find = async (key: LinkSessionRow) => (await store.read((tx) => tx.linkSessions.find(key)))!;
  clock.nowMs = session.expiresMs;
  return {
    ...made,
    add,
    addUnread,
    phaseOf: async (key: LinkSessionRow) => (await find(key)).phase,
    credentialOf: async (key: LinkSessionRow) => openSecrets(sealer, await find(key)).credential?.accessToken,
    /** The sessions that the log tells as expired. */
    async logged(): Promise<readonly string[]> {
      const entries = await store.read((tx) => tx.log.tail(logStart, 1_000));
      return entries.flatMap(({ kind, body }) => (kind === "linkSession" ? [JSON.parse(body).linkSessionId] : []));
    },
    expire: () => expireSessions(parts, unending()),
    discard: (signal = unending()) => discardCredentials(parts, signal),
  };
}

/** A promise that the test resolves. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

// Each of these would wait for ever if a step were left out.
const soon = { timeout: 60_000 };

describe("a link session whose time is over", soon, () => {
  it("is told by the running service, and one that a node works on is not", async (t) => {
    const { clock, session, told, parts, runtime, identity, stored, add, phaseOf } = await madeExpiring(t);
    clock.nowMs = session.createdMs;
    const worked = await add("ls_2", { phase: "reading" });
    const sessions = linkSessionsOn({ ...parts, identity, clients: {} as never, baseUrl: () => "https://here" });
    await sessions.start();
    t.after(() => sessions.stop());
    // On SQLite the start of a node releases all claims.
    const claimed = { ...worked, claimedMs: clock.nowMs + 900 };
    await parts.store.transaction((tx) => tx.linkSessions.save(claimed));
    await runtime.advance(60_000);
    assert.equal((await stored()).phase, "open");
    clock.nowMs = session.expiresMs;
    await runtime.advance(60_000);
    await until(async () => assert.equal((await stored()).phase, "expired"));
    await until(() => assert.equal(told.appended, 1));
    assert.equal(await phaseOf(worked), "reading");
  });

  it("is told while an ecosystem does not answer the revocation of another credential", async (t) => {
    const { clock, session, parts, runtime, identity, does, told, add, addUnread, phaseOf } = await madeExpiring(t);
    const waiting = gate();
    t.after(waiting.open);
    does.revoke = () => waiting.opened;
    await addUnread("ls_hanging");
    const later = await add("ls_later", { expiresMs: session.expiresMs + 1 });
    const sessions = linkSessionsOn({ ...parts, identity, clients: {} as never, baseUrl: () => "https://here" });
    await sessions.start();
    t.after(() => sessions.stop());
    await until(async () => {
      await runtime.advance(30_000);
      assert.equal(told.revoked.length, 2);
    });
    clock.nowMs += 1;
    await until(async () => {
      await runtime.advance(1_000);
      assert.equal(await phaseOf(later), "expired");
    });
  });

  it("is over and told also when the clock was set back since it began, which could last for years", async (t) => {
    const { clock, session, store, add, expire, logged, phaseOf } = await madeExpiring(t);
    const begunMs = session.createdMs + sessionMs;
    const ahead = await add("ls_ahead", { createdMs: begunMs, expiresMs: begunMs + sessionMs });
    clock.nowMs = begunMs - sessionAheadMs;
    assert.equal(statusOf(ahead, clock.nowMs), "pending");
    await expire();
    assert.equal(await phaseOf(ahead), "open");
    clock.nowMs -= 1;
    assert.equal(statusOf(ahead, clock.nowMs), "expired");
    assert.equal(await claimSession({ store }, ahead, "exchanging", () => true), undefined);
    assert.equal(await expire(), 1);
    assert.deepEqual(await logged(), [session.id, ahead.id]);
    assert.equal(await phaseOf(ahead), "expired");
    assert.equal(await expire(), 0);
  });

  it("is told in the same run as all others", async () => {
    const sessions = Array.from({ length: 501 }, (_, nth) => ({
      id: `ls_${nth}`,
      phase: "open",
      expiresMs: 1,
      userId: 5,
    }));
    const told: unknown[] = [];
    const linkSessions = {
      async unended(atMs: number, limit: number, after?: LinkSessionRow) {
        if (atMs !== 1) return [];
        const from = sessions.findIndex(({ id }) => id === after?.id) + 1;
        return sessions.slice(from, from + limit);
      },
      lock: async (session: LinkSessionRow) => ({ ...session, problem: null }),
      save: async ({ id }: LinkSessionRow) => void told.push(id),
    };
    const tx = { linkSessions, log: { append: async () => undefined }, clock: { nowMs: async () => 1 } };
    const act = (body: (tables: unknown) => Promise<unknown>) => body(tx);
    const parts = { store: { read: act, transaction: act } as never, appended: () => undefined };
    assert.equal(await expireSessions(parts, unending()), 501);
    assert.deepEqual(
      told,
      sessions.map(({ id }) => id),
    );
  });

  it("is told although another session can't be expired, whose error is reported", async (t) => {
    const { add, expire, logged, session, told } = await madeExpiring(t);
    const broken = await add("ls_0", { problem: "{", expiresMs: session.expiresMs - 1 });
    await assert.rejects(expire(), { message: `the link session ${broken.id} could not be expired` });
    assert.deepEqual([await logged(), told.appended], [[session.id], 1]);
  });

  it("is told by a later run when the store fails, and the sessions before it are told", async (t) => {
    const { store, parts, add, expire, logged, told } = await madeExpiring(t);
    const last = await add("ls_2");
    let transactions = 0;
    const failing = {
      read: (...given: Parameters<typeof store.read>) => store.read(...given),
      transaction: (...given: Parameters<typeof store.transaction>) => {
        transactions += 1;
        return transactions === 2 ? Promise.reject(new StoreUnavailable("gone")) : store.transaction(...given);
      },
    };
    await assert.rejects(expireSessions({ ...parts, store: failing as never }, unending()), StoreUnavailable);
    assert.deepEqual([await logged(), told.appended], [["ls_1"], 1]);
    assert.equal(await expire(), 1);
    assert.deepEqual(await logged(), ["ls_1", last.id]);
  });
});

describe("the credential of a link session that has expired", soon, () => {
  it("is revoked, then erased, and the row is removed a day later", async (t) => {
    const { clock, does, told, parts, addUnread, phaseOf, credentialOf, expire, discard, stored } =
      await madeExpiring(t);
    const unread = await addUnread("ls_2");
    const seen: unknown[] = [];
    does.revoke = async () => void seen.push(await credentialOf(unread));
    assert.equal(await expire(), 2);
    assert.equal(statusOf({ ...unread, phase: await phaseOf(unread) }, clock.nowMs), "expired");
    assert.equal(await discard(), 1);
    assert.deepEqual(told.revoked, ["token of ls_2", { accessToken: "token of ls_2" }]);
    assert.deepEqual(seen, ["token of ls_2"], "it is kept until the revocation was tried");
    assert.deepEqual([await phaseOf(unread), await credentialOf(unread)], ["expired", undefined]);
    assert.deepEqual([await discard(), await expire(), told.revoked.length], [0, 0, 2]);
    clock.nowMs = unread.expiresMs + sessionKeptMs + 1;
    assert.equal(await sweepSessions(parts, unending()), 2);
    assert.equal(await stored(), undefined);
  });

  it("is revoked after the next start when the node died, or stopped during the call", async (t) => {
    const { clock, does, told, parts, runtime, identity, addUnread, phaseOf, credentialOf, expire, discard } =
      await madeExpiring(t);
    const unread = await addUnread("ls_2");
    await expire();
    const stopping = new AbortController();
    does.revoke = async () => stopping.abort();
    assert.equal(await discard(stopping.signal), 0);
    assert.equal(await credentialOf(unread), "token of ls_2");
    assert.equal(await discard(), 0, "another node may still try it");
    does.revoke = async () => undefined;
    const sessions = linkSessionsOn({ ...parts, identity, clients: {} as never, baseUrl: () => "https://here" });
    await sessions.start();
    t.after(() => sessions.stop());
    await runtime.advance(30_000);
    await until(async () => assert.equal(await phaseOf(unread), "expired"));
    assert.deepEqual([told.revoked.length, await credentialOf(unread)], [4, undefined]);
    const left = await addUnread("ls_3");
    await expire();
    does.revoke = async () => stopping.abort();
    await discard(stopping.signal);
    await parts.store.transaction(async (tx) => {
      const row = (await tx.linkSessions.lock(left))!;
      await tx.linkSessions.save({ ...row, claimedMs: clock.nowMs });
    });
    clock.nowMs += claimMs;
    does.revoke = async () => undefined;
    assert.equal(await discard(), 1, "the claim of a dead node ends");
  });

  it("is erased without an answer after 5 seconds; each owner waits for one revocation, and for no other owner's", async (t) => {
    const { does, told, runtime, addUnread, credentialOf, expire, discard, userId } = await madeExpiring(t);
    const slow = [await addUnread("ls_2"), await addUnread("ls_3")];
    const other = await addUnread("ls_4", { ownerId: (userId + 1) as OwnerId });
    await expire();
    does.revoke = ({ accessToken }) => (accessToken === "token of ls_4" ? Promise.resolve() : new Promise(() => {}));
    const discarded = discard();
    await until(async () => assert.equal(await credentialOf(other), undefined));
    const tried = () => told.revoked.filter((access) => typeof access === "string");
    assert.deepEqual(tried(), ["token of ls_2", "token of ls_4"]);
    await runtime.advance(5_000);
    await until(() => assert.deepEqual(tried(), ["token of ls_2", "token of ls_4", "token of ls_3"]));
    await runtime.advance(5_000);
    assert.equal(await discarded, 3);
    for (const session of slow) assert.equal(await credentialOf(session), undefined);
  });

  it("is tried by one of several nodes", async (t) => {
    const { told, addUnread, expire, discard } = await madeExpiring(t);
    await addUnread("ls_2");
    await expire();
    const counts = await Promise.all([discard(), discard(), discard()]);
    assert.deepEqual([counts.sort(), told.revoked.length], [[0, 0, 1], 2]);
  });

  it("that its connector fails to revoke is reported and erased, and delays no other", async (t) => {
    const { does, runtime, addUnread, phaseOf, credentialOf, expire, discard } = await madeExpiring(t);
    const [failing, other] = [await addUnread("ls_2"), await addUnread("ls_3")];
    does.revoke = ({ accessToken }) =>
      accessToken === "token of ls_2" ? Promise.reject(new Error("a defect")) : Promise.resolve();
    await expire();
    assert.equal(await discard(), 2);
    for (const session of [failing, other]) {
      assert.deepEqual([await phaseOf(session), await credentialOf(session)], ["expired", undefined]);
    }
    assert.deepEqual(
      runtime.logLines.map(({ level, sentence }) => [level, sentence]),
      [["error", "the credential of an expired link session could not be revoked"]],
    );
  });

  it("is left to another node by one without its connector or its key", async (t) => {
    const { told, store, parts, addUnread, phaseOf, credentialOf, expire, discard } = await madeExpiring(t);
    const unread = [await addUnread("ls_2"), await addUnread("ls_3")];
    await expire();
    const locked = () => {
      throw new Error("no such key");
    };
    // Writes nothing: every node looks twice a minute.
    const readable = { ...parts, store: { isShared: false, read: store.read.bind(store), transaction: locked } };
    const unable = [{ connectors: new Map() }, { sealer: { ...sealer, open: locked } }];
    for (const change of unable) assert.equal(await discardCredentials({ ...readable, ...change }, unending()), 0);
    assert.equal(told.revoked.length, 0);
    for (const session of unread) {
      assert.equal(await phaseOf(session), "discarding");
      assert.equal(await credentialOf(session), `token of ${session.id}`);
    }
    assert.equal(await discard(), 2, "no claim delays the node that can");
    assert.equal(told.revoked.length, 4);
    for (const session of unread) assert.equal(await credentialOf(session), undefined);
  });

  it("that no node can revoke is erased after three days, which is reported", async (t) => {
    const { clock, store, runtime, parts, addUnread, phaseOf, expire, discard, session } = await madeExpiring(t);
    const sessions = [
      await addUnread("ls_2", { sealed: "sealed with a lost key" }),
      await addUnread("ls_3", { ecosystem: "gone" }),
    ];
    const other = await addUnread("ls_4");
    const counted = () =>
      store.read((tx) => tx.linkSessions.count(session.ownerId, session.clientId, 9, clock.nowMs - sessionKeptMs));
    assert.deepEqual([await expire(), await discard()], [4, 1]);
    assert.equal(await phaseOf(other), "expired", "the sessions before it delay no other");
    assert.equal(await counted(), 4);
    clock.nowMs = session.expiresMs + sessionKeptMs + 1;
    assert.equal(await sweepSessions(parts, unending()), 2);
    assert.equal(await counted(), 0, "the limit counts the last day");
    for (const left of sessions) assert.equal(await phaseOf(left), "discarding");
    clock.nowMs = session.expiresMs + unrevokedKeptMs;
    assert.equal(await sweepSessions(parts, unending()), 0);
    assert.deepEqual(runtime.logLines, []);
    clock.nowMs += 1;
    assert.equal(await sweepSessions(parts, unending()), 2);
    assert.deepEqual(
      runtime.logLines.map(({ level, fields, sentence }) => [level, fields, sentence]),
      [["warn", { sessions: 2 }, "credentials of expired link sessions were erased without revocation"]],
    );
  });

  it("waits for none of another owner: an owner's next session follows at once", async (t) => {
    const { does, runtime, addUnread, phaseOf, expire, discard, userId } = await madeExpiring(t);
    const hanging = await addUnread("ls_hanging", { ownerId: (userId + 1) as OwnerId });
    const answered: LinkSessionRow[] = [];
    for (let nth = 10; nth < 60; nth++) answered.push(await addUnread(`ls_${nth}`));
    await expire();
    does.revoke = ({ accessToken }) =>
      accessToken === "token of ls_hanging" ? new Promise(() => {}) : Promise.resolve();
    const discarded = discard();
    await until(async () => assert.equal(await phaseOf(answered.at(-1)!), "expired"));
    for (const session of answered) assert.equal(await phaseOf(session), "expired");
    assert.equal(await phaseOf(hanging), "discarding", "its time limit has not passed");
    await runtime.advance(5_000);
    assert.equal(await discarded, 51);
  });

  it("is revoked in the same run when it expires while other owners' ecosystems do not answer", async (t) => {
    const { clock, does, told, runtime, addUnread, phaseOf, expire, discard, userId } = await madeExpiring(t);
    const owner = (nth: number) => ({ ownerId: (userId + nth) as OwnerId });
    for (let nth = 1; nth <= 17; nth++) await addUnread(`ls_hanging_${nth}`, owner(nth));
    for (let nth = 1; nth <= 7; nth++) await addUnread(`ls_later_${nth}`, owner(1));
    await expire();
    does.revoke = ({ accessToken }) => (accessToken === "token of ls_new" ? Promise.resolve() : new Promise(() => {}));
    const discarded = discard();
    const hanging = () =>
      told.revoked.filter((access) => typeof access === "string" && access !== "token of ls_new").length;
    await until(() => assert.equal(hanging(), 16));
    await runtime.advance(5_000);
    await until(() => assert.equal(hanging(), 18, "the 17th owner, and the second session of the first"));
    const added = await addUnread("ls_new", { ...owner(18), expiresMs: clock.nowMs });
    assert.equal(await expire(), 1);
    for (let count = 19; count <= 24; count++) {
      await runtime.advance(5_000);
      await until(() => assert.equal(hanging(), count));
    }
    await until(async () => assert.equal(await phaseOf(added), "expired"));
    await runtime.advance(5_000);
    assert.equal(await discarded, 25);
  });
});
