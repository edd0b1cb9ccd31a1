import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BadParameter, InvalidClient, NotFound } from "../../src/model/errors.ts";
import type { TenantId } from "../../src/model/ids.ts";
import { type ClientParts, clientsOn, type NewClient } from "../../src/oauth/clients.ts";
import { onStore } from "../contracts/store/harness.ts";
import { makeHome } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

/** The clients of one tenant on a real store, without limits for failed attempts. */
const on = (test: (made: Awaited<ReturnType<typeof madeClients>>) => Promise<void>) =>
  onStore(sqliteHarness, async (store) => test(await madeClients(store)));

async function madeClients(store: Parameters<Parameters<typeof onStore>[1]>[0]) {
  const { userId } = await makeHome(store);
  const tenantId = (await store.read((tx) => tx.users.byId(userId)))!.tenantId as TenantId;
  const attempt = (_client: string, _source: string, check: () => Promise<unknown>) => check();
  const clients = clientsOn({
    store,
    tenants: { findTenant: async () => ({ tenantId, name: "Acme" }) } as unknown as ClientParts["tenants"],
    limits: { attempt } as unknown as ClientParts["limits"],
    nowMs: Date.now,
    grantsEnded: () => undefined,
    suspended: () => undefined,
  });
  const add = (change: Partial<NewClient> = {}) =>
    clients.addClient({
      tenant: "Acme",
      name: "Voice",
      kind: "user",
      redirectUris: ["https://a.example/"],
      requiresPkce: false,
      ...change,
    });
  return { clients, add };
}

const addressesOf = (count: number) => Array.from({ length: count }, (_, i) => `https://a.example/${i}`);

describe("a client", () => {
  it("has at most 20 redirect addresses, and none of them twice", () =>
    on(async ({ add }) => {
      const refused = (redirectUris: readonly string[], words: RegExp) =>
        assert.rejects(
          add({ redirectUris }),
          (error) => error instanceof BadParameter && error.parameter === "redirect-uri" && words.test(error.message),
        );
      assert.equal((await add({ redirectUris: addressesOf(20) })).client.redirectUris.length, 20);
      await refused(addressesOf(21), /at most 20/);
      await refused(["https://a.example/", "https://b.example/", "https://a.example/"], /twice/);
      await refused([], /at least one/);
      assert.deepEqual((await add({ kind: "enterprise", redirectUris: [] })).client.redirectUris, []);
    }));

  it("has a name that can be shown", () =>
    on(async ({ add, clients }) => {
      const refused = (error: unknown) => error instanceof BadParameter && error.parameter === "name";
      for (const name of ["", " ", "a\nb"]) await assert.rejects(add({ name }), refused, JSON.stringify(name));
      const { client } = await add();
      await assert.rejects(clients.editClient(client.id, { name: "" }), refused);
    }));

  it("has secrets that secret scanners know by their beginning, and the replaced one ends at once without an overlap", () =>
    on(async ({ clients, add }) => {
      const { client, secret: first } = await add();
      const authenticate = (secret: string) =>
        clients.authenticateClient({ clientId: client.id, secret, source: "192.0.2.1" });
      const { secret: second } = await clients.rotateSecret(client.id, 60_000);
      for (const secret of [first, second]) {
        assert.match(secret, /^bwcs_/);
        assert.equal((await authenticate(secret)).id, client.id);
      }
      const { secret: third } = await clients.rotateSecret(client.id, 0);
      for (const secret of [first, second]) await assert.rejects(authenticate(secret), InvalidClient);
      assert.equal((await authenticate(third)).id, client.id);
    }));

  it("is edited member by member, with the checks of a new one", () =>
    on(async ({ clients, add }) => {
      const { client } = await add({ returnUrls: ["https://a.example/linked"] });
      const shown = async () => {
        const found = (await clients.findClient(client.id))!;
        return [found.name, found.redirectUris, found.returnUrls, found.vouchesForUsers];
      };
      const before = await shown();
      await clients.editClient(client.id, {});
      assert.deepEqual(await shown(), before);
      const addresses = ["https://b.example/"];
      await assert.rejects(clients.editClient(client.id, { redirectUris: [] }), BadParameter);
      await assert.rejects(clients.editClient(client.id, { returnUrls: ["ftp://b.example/"] }), BadParameter);
      assert.deepEqual(await shown(), before);
      const edited = await clients.editClient(client.id, { name: "Rules", redirectUris: addresses });
      assert.deepEqual([edited.name, edited.redirectUris], ["Rules", addresses]);
      assert.deepEqual(await shown(), ["Rules", addresses, ["https://a.example/linked"], false]);
      await clients.editClient(client.id, { returnUrls: [], vouchesForUsers: true });
      assert.deepEqual(await shown(), ["Rules", addresses, [], true]);
    }));

  it("that is suspended is refused with the reason, and only with its right secret", () =>
    on(async ({ clients, add }) => {
      const { client, secret } = await add();
      const authenticate = (sent: string) =>
        clients.authenticateClient({ clientId: client.id, secret: sent, source: "192.0.2.1" });
      await clients.suspendClient(client.id);
      await assert.rejects(authenticate(secret), /This client is suspended/);
      await assert.rejects(
        authenticate("guess"),
        (error) => error instanceof InvalidClient && !/suspended/.test(error.message),
      );
    }));

  it("that does not exist is not found by a change", () =>
    on(async ({ clients }) => {
      await assert.rejects(clients.editClient("bwc_nobody", {}), NotFound);
      await assert.rejects(clients.rotateSecret("bwc_nobody", 0), NotFound);
      await assert.rejects(clients.removeClient("bwc_nobody"), NotFound);
    }));
});
