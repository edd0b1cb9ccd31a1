import assert from "node:assert/strict";
import { it } from "node:test";
import type { Credential } from "../../../src/ecosystems/credential.ts";
import { openCredential, sealCredential } from "../../../src/federation/credential.ts";
import { beginRenewal, clearRefused, renewalLimitMs, storeRenewed } from "../../../src/federation/stored-renewal.ts";
import { sealingWith } from "../../../src/store/keys/sealing.ts";
import type { OpenStore, Store } from "../../../src/store/seam.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { linkOf, makeHome, node } from "./home.ts";

const sealing = sealingWith(new Uint8Array(32).fill(3));
const first: Credential = { accessToken: "access 1", refreshToken: "refresh 1", expiresMs: 1 };
const second: Credential = { accessToken: "access 2", refreshToken: "refresh 2", expiresMs: 2 };

/** A link of node A with a credential, as the functions of its owner see it. */
async function linked(store: OpenStore) {
  const home = await makeHome(store);
  const row = linkOf(home, node("A"));
  await store.transaction((tx) => tx.links.add({ ...row, ...sealCredential(sealing.seal, row, first) }));
  const { userId, deviceId, ecosystem } = row;
  const ownedBy = (owner: string, epoch: number) => {
    const ownership = { owner: node(owner), epoch };
    // As on a store with several nodes, also on SQLite.
    const shared: Store = {
      isShared: true,
      transaction: (body, priority) => store.transaction(body, priority),
      read: (body, priority) => store.read(body, priority),
    };
    return { store: shared, sealing, link: { userId, deviceId, ecosystem, ownership } };
  };
  const take = (owner: string) => store.transaction((tx) => tx.links.takeOver(userId, deviceId, node(owner)));
  const stored = async () =>
    openCredential(sealing.open, (await store.read((tx) => tx.links.ofDevice(userId, deviceId)))!);
  return { row, ownedBy, take, stored };
}

async function begun(parts: Parameters<typeof beginRenewal>[0], ownMarkMs?: number): Promise<number> {
  const start = await beginRenewal(parts, first, ownMarkMs);
  assert.ok(start.state === "begun", start.state);
  return start.markMs;
}

export function credentialCases(harness: StoreHarness): void {
  it("are renewed by the owner of the epoch, and stored with the token that older nodes read", () =>
    onStore(harness, async (store) => {
      const { row, ownedBy, take, stored } = await linked(store);
      const markMs = await begun(ownedBy("A", 1));
      const renewed = await storeRenewed(ownedBy("A", 1), first, markMs, second);
      assert.ok(typeof renewed === "object" && typeof renewed.issuedMs === "number");
      assert.deepEqual(await stored(), { credential: { ...second, issuedMs: renewed.issuedMs }, isRenewable: true });
      await take("B");
      assert.deepEqual(await beginRenewal(ownedBy("A", 1), first, markMs), { state: "lost" });
      assert.deepEqual(await beginRenewal(ownedBy("A", 2), first, markMs), { state: "lost" });
      await store.transaction((tx) => tx.links.remove(row.userId, row.deviceId));
      assert.deepEqual(await beginRenewal(ownedBy("B", 2), second, undefined), { state: "lost" });
      assert.equal(await storeRenewed(ownedBy("A", 1), first, markMs, second), undefined);
    }));

  it("are not renewed by the next owner while the call of the one before may be in progress", () =>
    onStore(harness, async (store) => {
      const { row, ownedBy, take, stored } = await linked(store);
      const markMs = await begun(ownedBy("A", 1));
      assert.ok((await begun(ownedBy("A", 1), markMs)) >= markMs, "its own last try has ended");
      await take("B");
      const busy = await beginRenewal(ownedBy("B", 2), first, undefined);
      assert.ok(busy.state === "busy" && busy.forMs > 0 && busy.forMs <= renewalLimitMs);
      const nowMs = await store.read((tx) => tx.clock.nowMs());
      const setMark = (ms: number) => store.transaction((tx) => tx.links.setRenewing(row.userId, row.deviceId, ms));
      const aheadMs = nowMs + 3_600_000;
      await setMark(aheadMs);
      const ahead = await beginRenewal(ownedBy("B", 2), first, undefined);
      const waiting = { state: "busy", markMs: aheadMs, forMs: renewalLimitMs };
      assert.deepEqual(ahead, waiting, "the store's clock was set back");
      await setMark(nowMs - renewalLimitMs);
      await begun(ownedBy("B", 2));
      assert.equal(await storeRenewed(ownedBy("A", 1), first, markMs, second), "busy", "the mark is another's");
      assert.equal((await stored()).credential.accessToken, "access 1");
    }));

  it("are handed over by a node that lost the link during its call, and adopted by the next owner", () =>
    onStore(harness, async (store) => {
      const { ownedBy, take } = await linked(store);
      const markMs = await begun(ownedBy("A", 1));
      await take("B");
      assert.ok(await storeRenewed(ownedBy("A", 1), first, markMs, second));
      const start = await beginRenewal(ownedBy("B", 2), first, undefined);
      assert.ok(start.state === "replaced");
      assert.equal(start.opened.credential.refreshToken, "refresh 2");
    }));

  it("are stored after the next owner was refused, which follows the link again in the next epoch", () =>
    onStore(harness, async (store) => {
      const { row, ownedBy, take, stored } = await linked(store);
      const { userId, deviceId } = row;
      await take("B");
      const refusedMs = await begun(ownedBy("B", 2));
      const markMs = refusedMs - renewalLimitMs;
      await clearRefused(ownedBy("A", 1), markMs);
      assert.equal(await storeRenewed(ownedBy("A", 1), first, markMs, second), "busy", "only its own mark is cleared");
      await clearRefused(ownedBy("B", 2), refusedMs);
      const blindness = { sinceMs: 1, cause: "invalid_grant" };
      const standing = { state: "needs_reauth", reason: "invalid_grant", blindness } as const;
      await store.transaction((tx) => tx.links.setState(userId, deviceId, standing));
      assert.ok(await storeRenewed(ownedBy("A", 1), first, markMs, second));
      assert.equal((await stored()).credential.refreshToken, "refresh 2");
      const { state, owner, epoch, ...link } = (await store.read((tx) => tx.links.ofDevice(userId, deviceId)))!;
      assert.deepEqual([state, owner, epoch, link.blindness], ["waiting", node("B"), 3, blindness]);
    }));

  it("never replace a token that was stored during the renewal, by a node of this version or an older one", () =>
    onStore(harness, async (store) => {
      const { row, ownedBy, stored } = await linked(store);
      const other = sealCredential(sealing.seal, row, "token of an older node");
      const markMs = await begun(ownedBy("A", 1));
      await store.transaction(async (tx) => {
        const { sealedCredential } = (await tx.links.ofDevice(row.userId, row.deviceId))!;
        // An older node writes the token alone.
        await tx.links.setToken(row.userId, row.deviceId, other.sealedToken, sealedCredential);
        await tx.links.setRenewing(row.userId, row.deviceId, markMs);
      });
      assert.equal(await storeRenewed(ownedBy("A", 1), first, markMs, second), undefined);
      assert.deepEqual(await stored(), { credential: { accessToken: "token of an older node" }, isRenewable: false });
      await store.transaction((tx) => tx.links.setToken(row.userId, row.deviceId, other.sealedToken));
      assert.equal(await storeRenewed(ownedBy("A", 1), first, markMs, second), undefined);
    }));

  it("are known to be stored when the answer to their COMMIT was lost", () =>
    onStore(harness, async (store) => {
      const { ownedBy } = await linked(store);
      const markMs = await begun(ownedBy("A", 1));
      const stored = await storeRenewed(ownedBy("A", 1), first, markMs, second);
      assert.deepEqual(await storeRenewed(ownedBy("A", 1), first, markMs, second), stored);
    }));
}
