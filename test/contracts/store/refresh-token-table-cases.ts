import assert from "node:assert/strict";
import { it } from "node:test";
import { type OwnerId, ownerIdOf } from "../../../src/model/ids.ts";
import type { Transaction } from "../../../src/store/seam.ts";
import type { RefreshTokenRow } from "../../../src/store/tables/refresh-tokens.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { type Home, makeHome } from "./home.ts";

/** Beyond the clock of every test. */
const farMs = 1e13;

interface Family {
  readonly ownerId: OwnerId;
  /** Adds a token of the grant, issued when the test says. */
  add(hash: string, parentHash: string | null, issuedMs: number, grantId?: string): Promise<RefreshTokenRow>;
  find(hash: string): Promise<RefreshTokenRow | undefined>;
}

async function familyOf(tx: Transaction, { tenantId, userId }: Home): Promise<Family> {
  const terms = { termsVersion: null, termsMs: null };
  const grants = ["g1", "g2"].map((id) => ({
    ...{ id: `${id} of ${userId}`, tenantId, userId, clientId: "bwc_1", scope: null },
    ...{ covers: "user" as const, ...terms },
  }));
  for (const grant of grants) await tx.grants.add(grant);
  const ownerId = ownerIdOf(grants[0]!);
  const find = (hash: string) => tx.refreshTokens.find({ ownerId, hash });
  return {
    ownerId,
    find,
    async add(hash, parentHash, issuedMs, grantId = "g1") {
      const inGrant = { ownerId, grantId: `${grantId} of ${userId}`, parentHash };
      await tx.refreshTokens.add({ ...inGrant, hash, issuedMs, expiresMs: farMs });
      return (await find(hash))!;
    },
  };
}

export function refreshTokenTableCases(harness: StoreHarness): void {
  it("know whether another successor of the same refresh token was used", () =>
    onStore(harness, async (store) => {
      const [home, neighbour] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      await store.transaction(async (tx) => {
        const [family, others] = [await familyOf(tx, home), await familyOf(tx, neighbour)];
        const first = await family.add("first", null, 1);
        const left = await family.add("left", "first", 2);
        const right = await family.add("right", "first", 3);
        const used = [
          first,
          await family.add("child", "left", 4),
          await family.add("in another grant", "first", 4, "g2"),
          await others.add("of somebody else", "first", 4),
        ];
        for (const token of [...used, left]) await tx.refreshTokens.use(token, 1_000);
        assert.equal(await tx.refreshTokens.hasUsedSibling(left), false, "the token itself does not count");
        assert.equal(await tx.refreshTokens.hasUsedSibling(right), true);
        assert.equal(await tx.refreshTokens.hasUsedSibling(first), false, "the first token of a grant has no siblings");
        await tx.refreshTokens.use(right, 1_000);
        assert.equal(await tx.refreshTokens.hasUsedSibling(left), true);
        assert.deepEqual(
          (await tx.refreshTokens.children(first)).map(({ hash }) => hash),
          ["left", "right"],
        );
      });
    }));

  it("retire the parent of a refresh token once", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      await store.transaction(async (tx) => {
        const family = await familyOf(tx, home);
        const first = await family.add("first", null, 1);
        const next = await family.add("next", "first", 2);
        assert.equal(await tx.refreshTokens.retireParent(first, 50), false);
        assert.equal(await tx.refreshTokens.retireParent(next, 50), true);
        assert.equal(await tx.refreshTokens.retireParent(next, 60), false);
        assert.deepEqual([(await family.find("first"))?.retiresMs, (await family.find("next"))?.retiresMs], [50, null]);
      });
    }));

  it("remove refresh tokens of a grant that were never used first, and replaced ones apart, the oldest of each", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      await store.transaction(async (tx) => {
        const family = await familyOf(tx, home);
        await family.add("retired before", null, 1);
        const root = await family.add("retired", "retired before", 9);
        await tx.refreshTokens.retireParent(root, 40);
        for (const hash of ["used, old", "used, new"]) {
          await tx.refreshTokens.use(await family.add(hash, "retired", hash === "used, old" ? 2 : 5), farMs);
        }
        await family.add("unused, old", "retired", 3);
        const newest = await family.add("unused, new", "retired", 7);
        await family.add("of another grant", null, 1, "g2");
        await tx.refreshTokens.retireParent(newest, 50);
        const { ownerId, grantId } = root;
        const left: string[][] = [];
        for (const count of [4, 3, 2, 1]) {
          assert.equal(await tx.refreshTokens.keepNewest(ownerId, grantId, count), count === 4 ? 0 : 1);
          const hashes = ["used, old", "used, new", "unused, old", "unused, new"];
          const found = await Promise.all(hashes.map((hash) => family.find(hash)));
          left.push(found.flatMap((token) => (token ? [token.hash] : [])));
        }
        assert.deepEqual(left.slice(1), [
          ["used, old", "used, new", "unused, new"],
          ["used, old", "used, new"],
          ["used, new"],
        ]);
        const replaced = async () => [await family.find("retired before"), await family.find("retired")].map(Boolean);
        const kept = { most: 2, newest: 1, agesMs: [1], ofEachAge: 0 };
        await tx.refreshTokens.keepReplaced(ownerId, grantId, kept);
        assert.deepEqual(await replaced(), [true, true]);
        await tx.refreshTokens.keepReplaced(ownerId, grantId, { ...kept, most: 1 });
        assert.deepEqual(await replaced(), [false, true]);
        assert.ok(await family.find("used, new"));
        assert.ok(await family.find("of another grant"));
      });
    }));

  it("forget replaced refresh tokens of a grant that are neither the newest nor the oldest of their age", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      await store.transaction(async (tx) => {
        const family = await familyOf(tx, home);
        const nowMs = await tx.clock.nowMs();
        const ages = [90, 80, 70, 60, 50, 9, 8, 7, 6, 5, 4, 3];
        const hashes = ages.map((age) => `token ${age}`);
        for (const [place, age] of ages.entries()) {
          const token = await family.add(hashes[place]!, hashes[place - 1] ?? null, nowMs - age * 60_000);
          await tx.refreshTokens.retireParent(token, nowMs);
        }
        const { ownerId, grantId } = (await family.find("token 90"))!;
        const kept = { most: 11, newest: 2, agesMs: [20 * 60_000, 65 * 60_000], ofEachAge: 2 };
        const left = async () => {
          const found = await Promise.all(hashes.map((hash) => family.find(hash)));
          return found.flatMap((token, place) => (token ? [ages[place]] : []));
        };
        await tx.refreshTokens.keepReplaced(ownerId, grantId, kept);
        assert.deepEqual(await left(), ages);
        await tx.refreshTokens.keepReplaced(ownerId, grantId, { ...kept, most: 10 });
        assert.deepEqual(await left(), [90, 80, 60, 50, 9, 8, 5, 4, 3], "the last one is not replaced");
      });
    }));

  it("do not count expired refresh tokens", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      await store.transaction(async (tx) => {
        const family = await familyOf(tx, home);
        const { ownerId, grantId } = await family.add("valid", null, 1);
        await tx.refreshTokens.use(await family.add("expired", null, 5), 1);
        assert.equal(await tx.refreshTokens.keepNewest(ownerId, grantId, 1), 0);
        assert.ok(await family.find("valid"));
      });
    }));
}
