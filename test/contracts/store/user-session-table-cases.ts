import assert from "node:assert/strict";
import { it } from "node:test";
import type { OwnerId, TenantId, UserId } from "../../../src/model/ids.ts";
import type { LinkSessionRow } from "../../../src/store/tables/link-sessions.ts";
import type { UserSessionRow } from "../../../src/store/tables/user-sessions.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { makeHome, plain } from "./home.ts";

const [one, two] = [1 as UserId, 2 as UserId];

function sessionOf(userId: UserId, hash: string, fields: Partial<UserSessionRow> = {}): UserSessionRow {
  return { userId, hash, createdMs: 5, usedMs: 10, endsMs: 100, ...fields };
}

const signedInSession: Omit<LinkSessionRow, "ownerId" | "id" | "tenantId" | "userId"> = {
  clientId: "c1",
  ecosystem: "nest",
  mode: "link",
  returnUrl: null,
  clientState: null,
  tokenHash: "token",
  stateHash: null,
  browserHash: "browser",
  isSignedIn: true,
  sealed: "sealed",
  attempt: 0,
  phase: "open",
  claimedMs: null,
  problem: null,
  deviceId: null,
  summary: null,
  createdMs: 1,
  expiresMs: 2,
};

/** Sessions of the account page, and the apps that it lists. */
export function userSessionTableCases(harness: StoreHarness): void {
  it("keeps the sessions of a user, ends those with the oldest use, and removes ended ones", () =>
    onStore(harness, async (store) => {
      await store.transaction(async ({ userSessions }) => {
        for (const [at, hash] of ["a", "b", "c"].entries()) {
          await userSessions.add(sessionOf(one, hash, { usedMs: 10 - at, endsMs: 100 + at }));
        }
        await userSessions.add(sessionOf(two, "a"));
        assert.deepEqual(plain(await userSessions.find({ ownerId: one, hash: "a" })), sessionOf(one, "a"));
        assert.equal(await userSessions.find({ ownerId: two, hash: "b" }), undefined);
        assert.deepEqual([await userSessions.count(one, 99), await userSessions.count(one, 101)], [3, 1]);
        const used = sessionOf(one, "c", { usedMs: 50, endsMs: 150 });
        await userSessions.used(used);
        // A request that was slower brings an older time.
        await userSessions.used({ ...used, usedMs: 49, endsMs: 149 });
        assert.deepEqual(plain(await userSessions.find({ ownerId: one, hash: "c" })), used);
        assert.equal(await userSessions.keepLastUsed(one, 2), 1);
        assert.equal(await userSessions.find({ ownerId: one, hash: "b" }), undefined);
        assert.equal(await userSessions.removeEnded(100), 2);
        assert.deepEqual([await userSessions.count(one, 0), await userSessions.count(two, 0)], [1, 0]);
        const key = { ownerId: one, hash: "c" };
        assert.deepEqual([await userSessions.remove(key), await userSessions.remove(key)], [true, false]);
        await userSessions.add(sessionOf(two, "d"));
        assert.deepEqual([await userSessions.removeOfUser(one), await userSessions.removeOfUser(two)], [0, 1]);
      });
    }));

  it("lists the clients with grants of a user, and stores their use at most once in a time", () =>
    onStore(harness, async (store) => {
      const { tenantId, userId } = await makeHome(store);
      await store.transaction(async (tx) => {
        const client = { kind: "user", redirectUris: [], requiresPkce: false, secrets: [] } as const;
        const more = { tenantId, returnUrls: [], vouchesForUsers: false, createdMs: 1 } as const;
        for (const [id, name] of [
          ["c1", "Zebra"],
          ["c2", "Ant"],
        ] as const) {
          await tx.clients.add({ ...client, ...more, id, name });
        }
        const grant = (id: string, clientId: string, scope: string | null) =>
          ({ id, tenantId, userId, clientId, covers: "user", scope, termsVersion: null, termsMs: null }) as const;
        const grants = [grant("g1", "c1", null), grant("g2", "c1", null), grant("g3", "c1", "alerts")];
        for (const one of [...grants, grant("g4", "c2", null)]) await tx.grants.add(one);
        const shown = async () =>
          (await tx.grants.appsOf(userId, 10)).map(({ clientName, scope, usedMs }) => [clientName, scope, usedMs]);
        const before = await shown();
        assert.deepEqual(before[0], ["Ant", null, null]);
        assert.deepEqual(before.slice(1).map(String).sort(), ["Zebra,,", "Zebra,alerts,"]);
        await tx.grants.used(grants[0]!, 1_000, 0);
        await tx.grants.used(grants[1]!, 900, 0);
        await tx.grants.used(grants[0]!, 1_500, 1_000);
        await tx.grants.used({ ...grants[2]!, userId: (userId + 1) as UserId }, 1_500, 1_000);
        assert.deepEqual((await shown()).slice(1).map(String).sort(), ["Zebra,,1000", "Zebra,alerts,"]);
        await tx.grants.used(grants[0]!, 1_500, 1_001);
        assert.deepEqual((await shown()).slice(1).map(String).sort(), ["Zebra,,1500", "Zebra,alerts,"]);
        assert.equal((await tx.grants.appsOf(userId, 1)).length, 1);
        assert.deepEqual(await tx.grants.appsOf((userId + 1) as UserId, 10), []);
      });
    }));

  it("signs a user out of link sessions, and nobody else", () =>
    onStore(harness, async (store) => {
      const { tenantId, userId } = await makeHome(store);
      await store.transaction(async (tx) => {
        const add = (id: string, ownerId: number, of: UserId) =>
          tx.linkSessions.add({ ...signedInSession, ownerId: ownerId as OwnerId, id, tenantId, userId: of });
        await add("own", userId, userId);
        await add("company's", -tenantId, userId);
        await add("of another", -tenantId, (userId + 1) as UserId);
        await tx.linkSessions.signOut(userId);
        const isIn = async (id: string, ownerId: number) =>
          (await tx.linkSessions.find({ ownerId: ownerId as OwnerId, id }))?.isSignedIn;
        const found = [await isIn("own", userId), await isIn("company's", -tenantId)];
        assert.deepEqual([...found, await isIn("of another", -tenantId)], [false, false, true]);
      });
    }));

  it("removes the codes of one client and user that were not exchanged", () =>
    onStore(harness, async (store) => {
      const { userId } = await makeHome(store);
      await store.transaction(async (tx) => {
        const code = { redirectUri: "https://a.example", isRedirectUriSent: false, challenge: null, expiresMs: 9 };
        for (const [hash, clientId] of [
          ["new", "c1"],
          ["spent", "c1"],
          ["other", "c2"],
        ] as const) {
          await tx.codes.add({ ...code, hash, clientId, userId });
        }
        await tx.codes.spend((await tx.codes.find({ ownerId: userId, hash: "spent" }))!, "c1", "g1");
        await tx.codes.removeUnspent(userId, "c1");
        const isThere = async (hash: string) => (await tx.codes.find({ ownerId: userId, hash })) !== undefined;
        assert.deepEqual([await isThere("new"), await isThere("spent"), await isThere("other")], [false, true, true]);
      });
    }));

  it("tells the only tenant, and none of several", () =>
    onStore(harness, async (store) => {
      await store.transaction(async ({ tenants }) => {
        const before = (await tenants.list()).length;
        assert.equal((await tenants.only())?.id, before === 1 ? (await tenants.list())[0]!.id : undefined);
        const added: (TenantId | undefined)[] = [];
        for (const name of ["First of two", "Second of two"]) added.push(await tenants.add({ name }));
        assert.equal(await tenants.only(), undefined);
      });
    }));
}
