import assert from "node:assert/strict";
import { it } from "node:test";
import { expireSessions } from "../../../src/link-sessions/session-expiry.ts";
import type { OwnerId, UserId } from "../../../src/model/ids.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import type { LinkSessionProgress, LinkSessionRow } from "../../../src/store/tables/link-sessions.ts";
import { logStart } from "../../../src/store/tables/log-position.ts";
import { onDatabase, onStore, type StoreHarness, type TestDatabase } from "./harness.ts";
import { type Home, makeHome, plain } from "./home.ts";

/** A session for this user, which the user's own client has made. */
function sessionOf({ tenantId, userId }: Home, id: string, fields: Partial<LinkSessionRow> = {}): LinkSessionRow {
  return {
    ownerId: userId,
    id,
    tenantId,
    clientId: "bwc_1",
    userId,
    ecosystem: "nest",
    mode: "link",
    returnUrl: "https://app.example/linked",
    clientState: "own state",
    tokenHash: `token of ${id}`,
    stateHash: `state of ${id}`,
    browserHash: null,
    isSignedIn: false,
    sealed: "…",
    attempt: 0,
    phase: "open",
    claimedMs: null,
    problem: null,
    deviceId: null,
    summary: null,
    createdMs: 1,
    expiresMs: 100,
    ...fields,
  };
}

export function linkSessionTableCases(harness: StoreHarness): void {
  it("keeps a link session as it was added and saved, and finds it by id, token and state", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const session = sessionOf(home, "ls_1");
      const progress: LinkSessionProgress = {
        userId: 8 as UserId,
        isSignedIn: true,
        browserHash: "b",
        stateHash: "s",
        sealed: "other",
        attempt: 2,
        phase: "linked",
        claimedMs: 9,
        problem: "{}",
        deviceId: home.devices[0]!,
        summary: "[]",
      };
      await store.transaction(async (tx) => {
        await tx.linkSessions.add(session);
        await tx.linkSessions.add(sessionOf(home, "ls_2", { isSignedIn: true }));
        assert.deepEqual(plain(await tx.linkSessions.lock(session)), session);
      });
      await store.read(async (tx) => {
        const { ownerId } = session;
        assert.deepEqual(plain(await tx.linkSessions.find(session)), session);
        assert.deepEqual(plain(await tx.linkSessions.byHash("token", { ownerId, hash: "token of ls_1" })), session);
        assert.equal((await tx.linkSessions.byHash("state", { ownerId, hash: "state of ls_2" }))?.id, "ls_2");
        assert.equal((await tx.linkSessions.find({ ownerId, id: "ls_2" }))?.isSignedIn, true);
        const foreign = (ownerId + 1) as OwnerId;
        assert.equal(await tx.linkSessions.find({ ownerId: foreign, id: "ls_1" }), undefined);
        assert.equal(await tx.linkSessions.byHash("token", { ownerId: foreign, hash: "token of ls_1" }), undefined);
        assert.equal(await tx.linkSessions.find({ ownerId, id: "ls_1\0" }), undefined);
      });
      await store.transaction((tx) => tx.linkSessions.save({ ...session, ...progress }));
      await store.read(async (tx) => {
        assert.deepEqual(plain(await tx.linkSessions.find(session)), { ...session, ...progress });
        assert.equal((await tx.linkSessions.find({ ownerId: session.ownerId, id: "ls_2" }))?.phase, "open");
      });
      await store.transaction((tx) => tx.linkSessions.remove(session));
      assert.equal(await store.read((tx) => tx.linkSessions.find(session)), undefined);
      assert.equal(await store.read((tx) => tx.linkSessions.count(session.ownerId, "bwc_1", 9, 0)), 1);
    }));

  it("counts the link sessions of one client, and removes all of a user", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      const ofTenant = { ownerId: -ada.tenantId as OwnerId };
      await store.transaction(async (tx) => {
        for (const id of ["ls_1", "ls_2", "ls_3"]) await tx.linkSessions.add(sessionOf(ada, id));
        await tx.linkSessions.add(sessionOf(ada, "ls_4", { clientId: "bwc_2" }));
        await tx.linkSessions.add(sessionOf(ada, "ls_5", ofTenant));
        await tx.linkSessions.add(sessionOf(bob, "ls_6", ofTenant));
        await tx.linkSessions.add(sessionOf(bob, "ls_7"));
      });
      const count = (ownerId: OwnerId, clientId: string, most: number) =>
        store.read((tx) => tx.linkSessions.count(ownerId, clientId, most, 0));
      assert.equal(await count(ada.userId, "bwc_1", 9), 3);
      assert.equal(await count(ada.userId, "bwc_1", 2), 2);
      assert.equal(await count(ada.userId, "bwc_2", 9), 1);
      assert.equal(await count(ofTenant.ownerId, "bwc_1", 9), 2);
      assert.equal(await store.transaction((tx) => tx.linkSessions.removeOfUser(ada.userId)), 5);
      assert.deepEqual(
        [await count(ada.userId, "bwc_1", 9), await count(ofTenant.ownerId, "bwc_1", 9)],
        [0, 1],
        "the session that the company made for Bob stays",
      );
      assert.equal(await count(bob.userId, "bwc_1", 9), 1);
    }));

  it("signs a user out of their sessions and of those that their company has made, and nobody else", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      const company = -ada.tenantId as OwnerId;
      const isSignedIn = true;
      const signedOut = [sessionOf(ada, "ls_1"), sessionOf(ada, "ls_2", { ownerId: company })];
      const others = [
        sessionOf(bob, "ls_3"),
        sessionOf(bob, "ls_4", { ownerId: company }),
        sessionOf(ada, "ls_5", { ownerId: (company - 1) as OwnerId }),
        sessionOf(ada, "ls_6", { userId: bob.userId }),
      ];
      await store.transaction(async (tx) => {
        for (const session of [...signedOut, ...others]) await tx.linkSessions.add({ ...session, isSignedIn });
        await tx.linkSessions.signOut(ada.userId);
      });
      await store.read(async (tx) => {
        for (const session of signedOut) assert.equal((await tx.linkSessions.find(session))?.isSignedIn, false);
        for (const session of others) assert.equal((await tx.linkSessions.find(session))?.isSignedIn, true, session.id);
      });
    }));

  it("ends the claims of all link sessions, and nothing else", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const claimed = sessionOf(home, "ls_1", { phase: "reading", claimedMs: 9, attempt: 1 });
      const open = sessionOf(home, "ls_2");
      await store.transaction(async (tx) => {
        for (const session of [claimed, open]) await tx.linkSessions.add(session);
        await tx.linkSessions.releaseClaims();
      });
      await store.read(async (tx) => {
        assert.deepEqual(plain(await tx.linkSessions.find(claimed)), { ...claimed, claimedMs: null });
        assert.deepEqual(plain(await tx.linkSessions.find(open)), open);
      });
    }));

  it("finds link sessions without an end whose time is over, and removes old ones with an end, oldest first", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const unfinished = ["open", "exchanging", "reading", "unread", "asking"] as const;
      const phases = [...unfinished, "linked", "declined", "failed", "expired", "discarding"] as const;
      await store.transaction(async (tx) => {
        for (const [index, phase] of phases.entries()) {
          await tx.linkSessions.add(sessionOf(home, `ls_${phase}`, { phase, expiresMs: 100 + index }));
        }
      });
      const unended = async (atMs: number, limit: number) =>
        (await store.read((tx) => tx.linkSessions.unended(atMs, limit))).map(({ phase }) => phase);
      assert.deepEqual(await unended(200, 10), unfinished);
      assert.deepEqual(await unended(200, 2), ["open", "exchanging"]);
      assert.deepEqual(await unended(101, 10), ["open", "exchanging"]);
      const remove = (beforeMs: number, limit: number) =>
        store.transaction((tx) => tx.linkSessions.removeExpired(beforeMs, limit));
      assert.equal(await remove(105, 10), 0, "it expires at that time, not before it");
      assert.equal(await remove(106, 10), 1);
      assert.equal(await remove(200, 2), 2);
      assert.equal(await remove(200, 10), 1, "the one whose credential is still to be revoked stays");
      const removeUndiscarded = (beforeMs: number) =>
        store.transaction((tx) => tx.linkSessions.removeUndiscarded(beforeMs, 10));
      assert.deepEqual([await removeUndiscarded(109), await removeUndiscarded(110)], [0, 1]);
      assert.deepEqual(await unended(200, 10), unfinished, "a session without an end stays until its client is told");
    }));

  it("pages through link sessions without an end, also between those of one time", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      const sessions = [
        sessionOf(ada, "ls_2"),
        sessionOf(ada, "ls_3"),
        sessionOf(bob, "ls_1"),
        sessionOf(ada, "ls_1", { expiresMs: 101 }),
      ];
      await store.transaction(async (tx) => {
        for (const session of sessions) await tx.linkSessions.add(session);
      });
      const found: LinkSessionRow[] = [];
      for (let page = 0; page < sessions.length; page++) {
        const next = await store.read((tx) => tx.linkSessions.unended(101, 1, found.at(-1)));
        assert.equal(next.length, 1);
        found.push(...next);
      }
      assert.deepEqual(plain(found), sessions);
      assert.deepEqual(await store.read((tx) => tx.linkSessions.unended(101, 1, found.at(-1))), []);
    }));

  it("finds the owners of credentials that are to be revoked, unless a node works on one of that owner, and their sessions", () =>
    onStore(harness, async (store) => {
      const [ada, bob, eve] = [
        await makeHome(store),
        await makeHome(store, { name: "Bob" }),
        await makeHome(store, { name: "Eve" }),
      ];
      const phase = "discarding";
      const company = -ada.tenantId as OwnerId;
      await store.transaction(async (tx) => {
        await tx.linkSessions.add(sessionOf(ada, "ls_1", { phase: "expired" }));
        await tx.linkSessions.add(sessionOf(ada, "ls_3", { phase }));
        await tx.linkSessions.add(sessionOf(ada, "ls_2", { phase, expiresMs: 101 }));
        await tx.linkSessions.add(sessionOf(ada, "ls_7", { phase, ownerId: company }));
        await tx.linkSessions.add(sessionOf(bob, "ls_4", { phase }));
        await tx.linkSessions.add(sessionOf(eve, "ls_5", { phase }));
        await tx.linkSessions.add(sessionOf(eve, "ls_6", { phase, claimedMs: 50 }));
      });
      const owners = (claimedAfterMs: number, limit = 10, after?: OwnerId) =>
        store.read((tx) => tx.linkSessions.undiscardedOwners(claimedAfterMs, limit, after));
      const all = [company, ada.userId, bob.userId, eve.userId];
      assert.deepEqual(await owners(49), all.slice(0, 3));
      assert.deepEqual(await owners(50), all);
      assert.deepEqual([await owners(50, 2), await owners(50, 2, ada.userId)], [all.slice(0, 2), all.slice(2)]);
      const sessions = async (afterId: string, limit = 10) =>
        plain(await store.read((tx) => tx.linkSessions.undiscarded(ada.userId, afterId, limit)));
      const of = (id: string) => ({ ownerId: ada.userId, id, ecosystem: "nest", sealed: "…" });
      assert.deepEqual(await sessions(""), [of("ls_2"), of("ls_3")]);
      assert.deepEqual([await sessions("", 1), await sessions("ls_2")], [[of("ls_2")], [of("ls_3")]]);
    }));

  it("leaves link sessions that expired long ago out of the count", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      await store.transaction(async (tx) => {
        await tx.linkSessions.add(sessionOf(home, "ls_1"));
        for (const [id, expiresMs] of Object.entries({ ls_2: 99, ls_3: 100, ls_4: 101 })) {
          await tx.linkSessions.add(sessionOf(home, id, { phase: "discarding", expiresMs }));
        }
      });
      const count = (most: number, sinceMs: number) =>
        store.read((tx) => tx.linkSessions.count(home.userId, "bwc_1", most, sinceMs));
      assert.deepEqual([await count(9, 0), await count(9, 100), await count(9, 102)], [4, 3, 1]);
      assert.deepEqual([await count(2, 100), await count(1, 102)], [2, 1]);
    }));

  it("tells the expiry of each link session once, over several nodes at the same time", { timeout: 120_000 }, () =>
    onDatabase(harness, async (database) => {
      const stores = await nodesOn(harness, database);
      const home = await makeHome(stores[0]!);
      const nowMs = await stores[0]!.read((tx) => tx.clock.nowMs());
      const over = { createdMs: nowMs - 10, expiresMs: nowMs - 1 };
      const sessions = [
        ...["ls_1", "ls_2", "ls_3", "ls_4", "ls_5", "ls_6"].map((id) => sessionOf(home, id, over)),
        sessionOf(home, "ls_unread", { ...over, phase: "unread", problem: JSON.stringify({ code: "p" }) }),
        sessionOf(home, "ls_left", { ...over, phase: "exchanging", claimedMs: nowMs - 3_600_000 }),
        sessionOf(home, "ls_nobody", { ...over, ownerId: -home.tenantId as OwnerId, userId: null }),
      ];
      const silent = [
        ...(["linked", "declined", "failed", "expired"] as const).map((phase) =>
          sessionOf(home, `ls_${phase}`, { ...over, phase }),
        ),
        sessionOf(home, "ls_worked_on", { ...over, phase: "reading", claimedMs: nowMs }),
        sessionOf(home, "ls_pending", { createdMs: nowMs, expiresMs: nowMs + 3_600_000 }),
      ];
      await stores[0]!.transaction(async (tx) => {
        for (const session of [...sessions, ...silent]) await tx.linkSessions.add(session);
      });
      const told = { appended: 0 };
      const sweep = (store: OpenStore) =>
        expireSessions({ store, appended: () => void told.appended++ }, new AbortController().signal);
      const counts = await Promise.all([...stores, ...stores].map(sweep));
      assert.equal(
        counts.reduce((sum, count) => sum + count),
        sessions.length,
      );
      assert.ok(told.appended > 0);
      for (const store of stores) assert.equal(await sweep(store), 0);
      const log = await stores[0]!.read((tx) => tx.log.tail(logStart, 100));
      const bodies = log.flatMap(({ kind, body }) => (kind === "linkSession" ? [JSON.parse(body)] : []));
      const ofUser = sessions.filter(({ userId }) => userId !== null);
      assert.deepEqual(
        bodies.map(({ linkSessionId, status }) => [linkSessionId, status]).sort(),
        ofUser.map(({ id }) => [id, "expired"]).sort(),
      );
      assert.deepEqual(bodies.find(({ linkSessionId }) => linkSessionId === "ls_unread")?.problem, { code: "p" });
      await stores[0]!.read(async (tx) => {
        for (const session of sessions) {
          const { phase, claimedMs } = (await tx.linkSessions.find(session))!;
          assert.deepEqual([phase, claimedMs], [session.phase === "unread" ? "discarding" : "expired", null]);
        }
        for (const session of silent) assert.deepEqual(plain(await tx.linkSessions.find(session)), session);
      });
    }),
  );
}

/** A store for each of two nodes; on SQLite there is one. */
async function nodesOn({ kind }: StoreHarness, database: TestDatabase): Promise<readonly OpenStore[]> {
  const first = await database.open();
  return kind === "postgres" ? [first, await database.open()] : [first];
}
