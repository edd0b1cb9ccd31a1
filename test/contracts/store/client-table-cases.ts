import assert from "node:assert/strict";
import { it } from "node:test";
import type { OpenStore } from "../../../src/store/seam.ts";
import { logStart } from "../../../src/store/tables/log-position.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { type Home, makeHome, plain } from "./home.ts";

/** Clients, and the codes and grants that they get. */
export function clientTableCases(harness: StoreHarness): void {
  it("stores return addresses, vouching and whether iss is sent, and changes them for one client alone", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      await addClients(store, home);
      const registered = (id: string) =>
        store.read(async (tx) => {
          const { returnUrls, vouchesForUsers, sendsIssuer } = (await tx.clients.byId(id))!;
          return { returnUrls, vouchesForUsers, sendsIssuer };
        });
      const none = { returnUrls: [], vouchesForUsers: false, sendsIssuer: true };
      assert.deepEqual(await registered("bwc_1"), none);
      const known = { returnUrls: ["https://app.example/linked"], vouchesForUsers: true, sendsIssuer: false };
      await store.transaction((tx) =>
        tx.clients.setRegistration("bwc_1", { name: "Voice", redirectUris: [], ...known }),
      );
      assert.deepEqual([await registered("bwc_1"), await registered("bwc_2")], [known, none]);
      await store.transaction((tx) =>
        tx.clients.setRegistration("bwc_1", { name: "Voice", redirectUris: ["https://a.example/"], ...none }),
      );
      assert.deepEqual(await registered("bwc_1"), none);
    }));

  it("tells who of a grant is suspended, for tokens, streams and webhooks, and holds what waits for the webhook", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const { tenantId, userId } = home;
      await addClients(store, home);
      const grant = { tenantId, userId, clientId: "bwc_1", covers: "user", termsVersion: null, termsMs: null } as const;
      const token = { ownerId: userId, hash: "token" };
      const key = { ownerId: userId, id: "wh_1" };
      const [lamp] = home.devices;
      const now = await store.transaction(async (tx) => {
        await tx.grants.add({ ...grant, id: "g", scope: null });
        await tx.accessTokens.add(token, "g", 9_000_000_000_000);
        const plain = { url: "https://a.example/", sealedUrl: null, sealedSecret: "…", deviceIds: [], attributes: [] };
        await tx.webhooks.add({ id: "wh_1", tenantId, userId, clientId: "bwc_1", ...plain, from: logStart });
        const message = { ownerId: userId, webhookId: "wh_1", userId, deviceId: lamp!, type: "device", body: "{}" };
        for (const messageId of ["m1", "m2"]) await tx.deliveries.add({ ...message, messageId });
        return tx.clock.nowMs();
      });
      const seen = () =>
        store.read(async (tx) => [
          (await tx.accessTokens.find(token))?.suspended,
          (await tx.grants.usable([{ ...grant, id: "g", scope: null }])).size,
          (await tx.webhooks.byKey(key))?.suspended,
          (await tx.webhooks.byKey(key))?.pausedMs,
        ]);
      assert.deepEqual(await seen(), [null, 1, null, null]);
      await store.transaction((tx) => tx.clients.setSuspended("bwc_1", 5));
      assert.deepEqual(await seen(), ["client", 0, "client", null]);
      await store.transaction((tx) => tx.users.setSuspended(userId, 6));
      assert.deepEqual((await seen())[0], "user");
      assert.equal(await store.transaction((tx) => tx.webhooks.removeDead()), 0, "a suspended webhook is kept");
      await store.transaction(async (tx) => {
        await tx.clients.setSuspended("bwc_1", null);
        await tx.users.setSuspended(userId, null);
        await tx.webhooks.setPaused(key, 7);
      });
      assert.deepEqual(await seen(), [null, 1, null, 7]);
      const nextTimes = async () =>
        (await store.read((tx) => tx.deliveries.listed(key, { limit: 9 }))).map(({ nextMs }) => nextMs).reverse();
      const later = now + 600_000;
      await store.transaction((tx) => tx.deliveries.hold(key, now + 1_000, later));
      assert.deepEqual(await nextTimes(), [later, null]);
      assert.equal(await store.transaction((tx) => tx.deliveries.makeDue(key, now)), 1);
      assert.deepEqual(await nextTimes(), [now, null]);
    }));

  it("removes the codes of a client, and no others", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const { userId } = home;
      await addClients(store, home);
      const code = {
        userId,
        redirectUri: "https://app.example/",
        isRedirectUriSent: true,
        challenge: null,
        expiresMs: 9,
      };
      await store.transaction(async (tx) => {
        await tx.codes.add({ ...code, hash: "a", clientId: "bwc_1" });
        await tx.codes.add({ ...code, hash: "b", clientId: "bwc_2" });
        await tx.codes.removeOfClient("bwc_1");
      });
      await store.read(async (tx) => {
        assert.equal(await tx.codes.find({ ownerId: userId, hash: "a" }), undefined);
        assert.equal((await tx.codes.find({ ownerId: userId, hash: "b" }))?.clientId, "bwc_2");
      });
    }));

  it("removes grants with their tokens, each once, and no others", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const { tenantId, userId } = home;
      const none = { scope: null, termsVersion: null, termsMs: null };
      const grant = { tenantId, userId, clientId: "bwc_1", covers: "user", ...none } as const;
      const [one, other] = [
        { ...grant, id: "one" },
        { ...grant, id: "other" },
      ];
      await store.transaction(async (tx) => {
        for (const added of [one, other]) {
          await tx.grants.add(added);
          await tx.accessTokens.add({ ownerId: userId, hash: `token of ${added.id}` }, added.id, 9_000_000_000_000);
        }
        assert.deepEqual(await tx.grants.removeAll([]), []);
        assert.deepEqual((await tx.grants.removeAll([one, { ...grant, id: "unknown" }])).map(plain), [one]);
        assert.deepEqual(await tx.grants.removeAll([one]), []);
        assert.equal(await tx.grants.remove(one), false);
        assert.equal(await tx.accessTokens.find({ ownerId: userId, hash: "token of one" }), undefined);
        assert.equal((await tx.accessTokens.find({ ownerId: userId, hash: "token of other" }))?.grant.id, "other");
      });
    }));

  it("removes grants without tokens that are older than a time, and spares those of that time", () =>
    onStore(harness, async (store, database) => {
      const home = await makeHome(store);
      const { tenantId, userId } = home;
      await addClients(store, home);
      const grant = { tenantId, userId, clientId: "bwc_1", covers: "user" } as const;
      await store.transaction((tx) => tx.grants.add({ ...grant, id: "old" }));
      await database.jumpClock(60_000);
      await store.transaction(async (tx) => {
        for (const id of ["new", "with a token"]) await tx.grants.add({ ...grant, id });
        await tx.accessTokens.add({ ownerId: userId, hash: "h" }, "with a token", Number.MAX_SAFE_INTEGER);
      });
      const [{ createdMs }] = (await database.sql(
        `SELECT MIN(created_ms) AS "createdMs" FROM grants WHERE id <> 'old'`,
      )) as [{ createdMs: number }];
      const left = async (beforeMs: number) => {
        assert.equal(await store.transaction((tx) => tx.grants.removeEmpty(beforeMs)), undefined);
        return (await store.read((tx) => tx.grants.ofUser(userId))).map(({ id }) => id).sort();
      };
      assert.deepEqual(await left(Number(createdMs)), ["new", "with a token"]);
      assert.deepEqual(await left(Number(createdMs) + 60_000), ["with a token"]);
    }));
}

async function addClients(store: OpenStore, { tenantId }: Home): Promise<void> {
  await store.transaction(async (tx) => {
    for (const id of ["bwc_1", "bwc_2"]) {
      const client = { id, tenantId, name: id, kind: "user", requiresPkce: false } as const;
      await tx.clients.add({ ...client, redirectUris: [], secrets: [] });
    }
  });
}
