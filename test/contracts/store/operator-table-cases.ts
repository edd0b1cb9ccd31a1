import assert from "node:assert/strict";
import { it } from "node:test";
import type { OperatorId, TenantId } from "../../../src/model/ids.ts";
import type { OperatorSessionRow } from "../../../src/store/tables/operator-sessions.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { makeHome, plain } from "./home.ts";

const ada = { name: "ada", role: "owner", reachesAll: true, tenantIds: [], passwordHash: "hash" } as const;

export function operatorTableCases(harness: StoreHarness): void {
  it("keep an operator with tenants, password and state, and find them by id and name", () =>
    onStore(harness, async (store) => {
      const { tenantId } = await makeHome(store);
      await store.transaction(async (tx) => {
        await tx.operators.lockAll();
        const id = (await tx.operators.add({ ...ada, role: "tenantAdmin", reachesAll: false, tenantIds: [tenantId] }))!;
        assert.equal(await tx.operators.add(ada), undefined);
        const first = plain(await tx.operators.byId(id))!;
        const { createdMs } = first;
        assert.deepEqual(first, {
          id,
          name: "ada",
          role: "tenantAdmin",
          reachesAll: false,
          tenantIds: [tenantId],
          passwordHash: "hash",
          oidcSubject: null,
          isSuspended: false,
          isSuspendedByClaims: false,
          createdMs,
          signedInMs: null,
        });
        const bob = (await tx.operators.add({ ...ada, name: "bob", passwordHash: null }))!;
        assert.deepEqual((await tx.operators.byName("bob"))?.tenantIds, []);
        assert.equal((await tx.operators.byName("bob"))?.reachesAll, true);
        assert.deepEqual(await tx.operators.lock(bob), await tx.operators.byId(bob));
        assert.equal(await tx.operators.lock((bob + 1) as OperatorId), undefined);
        assert.equal(await tx.operators.byName("b\0b"), undefined);
        await tx.operators.setAccess(id, { role: "owner", reachesAll: true, tenantIds: [] });
        await tx.operators.setAccess(bob, { role: "viewer", reachesAll: false, tenantIds: [tenantId, 77 as TenantId] });
        await tx.operators.setPasswordHash(bob, "other");
        await tx.operators.setSuspended(bob, true);
        await tx.operators.signedIn(bob, 5);
        const listed = (await tx.operators.list()).map((one) => [
          ...[
            one.name,
            one.role,
            one.reachesAll,
            [...one.tenantIds],
            one.passwordHash,
            one.isSuspended,
            one.signedInMs,
          ],
        ]);
        assert.deepEqual(listed, [
          ["ada", "owner", true, [], "hash", false, null],
          ["bob", "viewer", false, [tenantId, 77], "other", true, 5],
        ]);
        const suspension = async () => {
          const { isSuspended, isSuspendedByClaims } = (await tx.operators.byId(bob))!;
          return [isSuspended, isSuspendedByClaims];
        };
        assert.deepEqual(await suspension(), [true, false]);
        await tx.operators.suspendByClaims(bob);
        assert.deepEqual(await suspension(), [true, true]);
        await tx.operators.setSuspended(bob, false);
        assert.deepEqual(await suspension(), [false, false]);
      });
    }));

  it("remove an operator with their sessions and tokens, and a tenant from their access", () =>
    onStore(harness, async (store) => {
      await store.transaction(async (tx) => {
        const tenantId = (await tx.tenants.add({ name: "Empty" }))!;
        const access = { role: "viewer", reachesAll: false, tenantIds: [tenantId] };
        const [one, two] = [
          (await tx.operators.add({ ...ada, ...access }))!,
          (await tx.operators.add({ ...ada, ...access, name: "bob" }))!,
        ];
        for (const operatorId of [one, two]) {
          await tx.operatorSessions.add(sessionOf(operatorId, `s${operatorId}`));
          await tx.operatorTokens.add(tokenOf(operatorId, `t${operatorId}`));
        }
        await tx.operators.remove(one);
        assert.deepEqual([(await tx.operatorSessions.list()).length, (await tx.operatorTokens.list()).length], [1, 1]);
        assert.equal(await tx.operators.byId(one), undefined);
        assert.ok(await tx.tenants.remove(tenantId));
        assert.deepEqual((await tx.operators.byId(two))?.tenantIds, []);
      });
    }));

  it("keep an operator's sessions, end those with the oldest use, and remove expired ones", () =>
    onStore(harness, async (store) => {
      const [one, two] = [1 as OperatorId, 2 as OperatorId];
      await store.transaction(async (tx) => {
        const { operatorSessions } = tx;
        for (const [at, hash] of ["a", "b", "c"].entries()) {
          await operatorSessions.add(sessionOf(one, hash, { createdMs: at, usedMs: 10 - at, expiresMs: 100 + at }));
        }
        await operatorSessions.add(sessionOf(two, "d"));
        assert.deepEqual(plain(await operatorSessions.find("a")), sessionOf(one, "a", { createdMs: 0, usedMs: 10 }));
        assert.equal((await operatorSessions.byId("id of b"))?.hash, "b");
        assert.equal(await operatorSessions.byId("\0"), undefined);
        assert.deepEqual(hashes(await operatorSessions.list(one)), ["c", "b", "a"]);
        await operatorSessions.used("c", 50);
        await operatorSessions.confirmed("c", 51);
        assert.equal((await operatorSessions.find("c"))?.passwordMs, 51);
        assert.equal(await operatorSessions.keepLastUsed(one, 2), 1);
        assert.deepEqual(hashes(await operatorSessions.list(one)), ["c", "a"]);
        assert.equal(await operatorSessions.removeExpired(100, 0), 2);
        assert.deepEqual(hashes(await operatorSessions.list()), ["c"]);
        assert.deepEqual([await operatorSessions.remove("c"), await operatorSessions.remove("c")], [true, false]);
        await operatorSessions.add(sessionOf(two, "e"));
        assert.equal(await operatorSessions.removeOfOperator(two), 1);
      });
    }));

  it("keep an operator's tokens until they expire", () =>
    onStore(harness, async (store) => {
      const [one, two] = [1 as OperatorId, 2 as OperatorId];
      await store.transaction(async ({ operatorTokens }) => {
        await operatorTokens.add(tokenOf(one, "a", 100));
        await operatorTokens.add(tokenOf(one, "b", 200));
        await operatorTokens.add(tokenOf(two, "c", 200));
        await operatorTokens.used("a", 7);
        assert.deepEqual(plain(await operatorTokens.find("a")), {
          ...tokenOf(one, "a", 100),
          parentId: null,
          usedMs: 7,
        });
        assert.equal((await operatorTokens.byId("id of b"))?.usedMs, null);
        assert.equal((await operatorTokens.list(one)).length, 2);
        assert.equal(await operatorTokens.removeExpired(100), 1);
        assert.equal(await operatorTokens.remove("a"), false);
        assert.equal(await operatorTokens.removeOfOperator(one), 1);
        assert.deepEqual(hashes(await operatorTokens.list()), ["c"]);
      });
    }));

  it("end the tokens that a token made with it, whatever removes it", () =>
    onStore(harness, async (store) => {
      const [one, two] = [1 as OperatorId, 2 as OperatorId];
      await store.transaction(async ({ operatorTokens }) => {
        for (const remove of [operatorTokens.remove, () => operatorTokens.removeOfOperator(one)]) {
          await operatorTokens.add(tokenOf(one, "a"));
          await operatorTokens.add({ ...tokenOf(two, "b"), parentId: "id of a" });
          await operatorTokens.add({ ...tokenOf(two, "c"), parentId: "id of b" });
          assert.equal((await operatorTokens.find("c"))?.parentId, "id of b");
          assert.equal((await operatorTokens.hold("id of a"))?.hash, "a");
          await remove("a");
          assert.deepEqual(await operatorTokens.list(), []);
          assert.equal(await operatorTokens.hold("id of a"), undefined);
        }
      });
    }));

  it("list users, links, grants and webhooks of some tenants, in pages", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      await store.transaction(async (tx) => {
        const tenantId = (await tx.tenants.add({ name: "Second" }))!;
        const added: number[] = [];
        for (const name of ["Anna", "ANNABEL", "100%_x"]) {
          added.push((await tx.users.add({ tenantId, name, passwordHash: "hash", isAdmin: false }))!);
        }
        const ids = async (filter: Partial<Parameters<typeof tx.users.listed>[0]>) =>
          (await tx.users.listed({ afterId: 0, limit: 10, ...filter })).map(({ id }) => id as number);
        assert.deepEqual(await ids({ tenantIds: [tenantId] }), added);
        assert.deepEqual(await ids({ tenantIds: [] }), []);
        assert.ok((await ids({})).includes(home.userId));
        assert.deepEqual(await ids({ text: "anna", limit: 1 }), added.slice(0, 1));
        assert.deepEqual(await ids({ text: "anna", afterId: added[0]! }), added.slice(1, 2));
        assert.deepEqual(await ids({ text: "%_" }), added.slice(2));
        assert.deepEqual(await ids({ text: "anna", throughId: added[0]! }), added.slice(0, 1));
        assert.equal(await tx.users.lastId(), added.at(-1));
        assert.deepEqual(await ids({ text: String(added[0]) }), added.slice(0, 1));
        const some = await tx.users.some([added[1], home.userId, 2 ** 31 - 1] as never);
        assert.deepEqual(
          some.map(({ id, tenantId: of, name }) => [id, of, name]).sort((a, b) => Number(a[0]) - Number(b[0])),
          [
            [home.userId, home.tenantId, "Ada"],
            [added[1], tenantId, "ANNABEL"],
          ],
        );
        const client = { tenantId, kind: "user", redirectUris: [], requiresPkce: false, secrets: [] } as const;
        for (const id of ["bwc_b", "bwc_a", "bwc_c"]) await tx.clients.add({ ...client, id, name: `Name of ${id}` });
        assert.deepEqual(plain(await tx.clients.some(["bwc_b", "bwc_a", "bwc_none", "bwc\0"])), [
          { id: "bwc_a", tenantId, name: "Name of bwc_a" },
          { id: "bwc_b", tenantId, name: "Name of bwc_b" },
        ]);
        assert.deepEqual(await tx.links.listed({ tenantIds: [tenantId], limit: 5 }), []);
        const grant = { tenantId, userId: added[0] as never, clientId: "bwc_9", covers: "user" } as const;
        for (const id of ["g1", "g2"]) await tx.grants.add({ ...grant, id });
        const grants = async (filter: object) =>
          (await tx.grants.listed({ of: { clientId: "bwc_9" }, afterId: "", limit: 5, ...filter })).map(({ id }) => id);
        assert.deepEqual(await grants({}), ["g1", "g2"]);
        await tx.grants.used({ ...grant, id: "g2", scope: null, termsVersion: null, termsMs: null }, 7, 0);
        const uses = await tx.grants.listed({ of: { clientId: "bwc_9" }, afterId: "", limit: 5 });
        assert.deepEqual(
          uses.map(({ usedMs }) => usedMs),
          [null, 7],
        );
        assert.deepEqual(await grants({ afterId: "g1" }), ["g2"]);
        assert.deepEqual(await grants({ id: "g2", of: { userId: added[0] } }), ["g2"]);
        assert.deepEqual(await grants({ of: { userId: added[1] } }), []);
        assert.deepEqual(await tx.webhooks.listed({ tenantIds: [tenantId], afterId: "", limit: 5 }), []);
        assert.deepEqual(
          [await tx.tenants.rename(tenantId, "Renamed"), await tx.tenants.byName("Second")],
          [true, undefined],
        );
        const [taken] = (await tx.tenants.list()).filter(({ id }) => id !== tenantId);
        assert.equal(await tx.tenants.rename(tenantId, taken!.name), false);
      });
    }));

  it("keep one-time links until they are used or expire", () =>
    onStore(harness, async (store) => {
      await store.transaction(async ({ operatorLinks }) => {
        const times = { createdMs: 1, expiresMs: 100 };
        const invitation = { hash: "a", kind: "invitation", role: "viewer", reachesAll: false, name: "bob" } as const;
        const link = { ...invitation, tenantIds: [3 as TenantId], ...times };
        await operatorLinks.add(link);
        await operatorLinks.add({ ...link, hash: "b", kind: "claim", name: null, reachesAll: true, tenantIds: [] });
        await operatorLinks.add({ ...link, hash: "c", expiresMs: 200 });
        assert.deepEqual(plain(await operatorLinks.find("a")), link);
        assert.deepEqual([await operatorLinks.count("invitation"), await operatorLinks.count("claim")], [2, 1]);
        assert.deepEqual(plain(await operatorLinks.list("invitation")), [link, { ...link, hash: "c", expiresMs: 200 }]);
        assert.deepEqual(hashes(await operatorLinks.list("claim")), ["b"]);
        assert.equal(await operatorLinks.removeOfKind("claim"), 1);
        assert.equal(await operatorLinks.removeExpired(100), 1);
        assert.deepEqual([await operatorLinks.remove("c"), await operatorLinks.remove("c")], [true, false]);
      });
    }));

  it("lose a removed tenant from the access of one-time links, and links that give access to nothing else", () =>
    onStore(harness, async (store) => {
      await store.transaction(async (tx) => {
        const tenantId = (await tx.tenants.add({ name: "Leaving" }))!;
        const other = (await tx.tenants.add({ name: "Staying" }))!;
        assert.equal((await tx.tenants.hold(tenantId))?.name, "Leaving");
        const link = { kind: "invitation", role: "viewer", name: null, createdMs: 1, expiresMs: 9 } as const;
        const add = (hash: string, tenantIds: readonly TenantId[]) =>
          tx.operatorLinks.add({ ...link, hash, reachesAll: tenantIds.length === 0, tenantIds });
        await add("all", []);
        await add("both", [tenantId, other]);
        await add("one", [tenantId]);
        await add("other", [other]);
        await tx.tenants.remove(tenantId);
        assert.deepEqual(
          (await tx.operatorLinks.list("invitation")).map(({ hash, tenantIds }) => [hash, tenantIds]),
          [
            ["all", []],
            ["both", [other]],
            ["other", [other]],
          ],
        );
        assert.equal(await tx.tenants.hold(tenantId), undefined);
      });
    }));
}

function sessionOf(operatorId: OperatorId, hash: string, times: Partial<OperatorSessionRow> = {}): OperatorSessionRow {
  const from = { address: "192.0.2.1", userAgent: "Browser" };
  return {
    hash,
    id: `id of ${hash}`,
    operatorId,
    createdMs: 0,
    usedMs: 1,
    passwordMs: 2,
    ...from,
    expiresMs: 100,
    ...times,
  };
}

function tokenOf(operatorId: OperatorId, hash: string, expiresMs = 100) {
  return { hash, id: `id of ${hash}`, operatorId, name: "deploy", createdMs: 0, expiresMs };
}

function hashes(rows: readonly { readonly hash: string }[]): readonly string[] {
  return rows.map(({ hash }) => hash);
}
