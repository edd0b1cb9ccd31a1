import assert from "node:assert/strict";
import { it } from "node:test";
import type { OpenStore } from "../../../src/store/seam.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { type Home, makeHome } from "./home.ts";

/** Clients, and the codes and grants that they get. */
export function clientTableCases(harness: StoreHarness): void {
  it("keeps what link pages know of a client, and changes it for that client alone", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      await addClients(store, home);
      const registered = (id: string) =>
        store.read(async (tx) => {
          const { returnUrls, vouchesForUsers } = (await tx.clients.byId(id))!;
          return { returnUrls, vouchesForUsers };
        });
      const none = { returnUrls: [], vouchesForUsers: false };
      assert.deepEqual(await registered("bwc_1"), none);
      const known = { returnUrls: ["https://app.example/linked"], vouchesForUsers: true };
      await store.transaction((tx) =>
        tx.clients.setRegistration("bwc_1", { name: "Voice", redirectUris: [], ...known }),
      );
      assert.deepEqual([await registered("bwc_1"), await registered("bwc_2")], [known, none]);
      await store.transaction((tx) =>
        tx.clients.setRegistration("bwc_1", { name: "Voice", redirectUris: ["https://a.example/"], ...none }),
      );
      assert.deepEqual(await registered("bwc_1"), none);
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
