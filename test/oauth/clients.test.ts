import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BadParameter, InvalidClient, NotFound } from "../../src/model/errors.ts";
import type { TenantId } from "../../src/model/ids.ts";
import { type ClientParts, clientsOn, type NewClient } from "../../src/oauth/clients.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { logStart } from "../../src/store/tables/log-position.ts";
import { onStore } from "../contracts/store/harness.ts";
import { makeHome } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

/** The clients of one tenant on a real store, without limits for failed attempts. */
const on = (test: (made: Awaited<ReturnType<typeof madeClients>>) => Promise<void>) =>
  onStore(sqliteHarness, async (store) => test(await madeClients(store)));

async function madeClients(store: OpenStore) {
  const { userId } = await makeHome(store);
  const tenantId = (await store.read((tx) => tx.users.byId(userId)))!.tenantId as TenantId;
  const attempt = (_client: string, _source: string, check: () => Promise<unknown>) => check();
  const clock = { nowMs: Date.now };
  const clients = clientsOn({
    store,
    tenants: { findTenant: async () => ({ tenantId, name: "Acme" }) } as unknown as ClientParts["tenants"],
    limits: { attempt } as unknown as ClientParts["limits"],
    nowMs: () => clock.nowMs(),
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
  return { store, clock, clients, add };
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
      for (const name of ["", " ", "a\nb", "a\0b"]) await assert.rejects(add({ name }), refused, JSON.stringify(name));
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

  it("keeps a replaced secret until the end of its overlap, and not even its hash without one", () =>
    on(async ({ store, clock, clients, add }) => {
      const { client, secret } = await add();
      const authenticate = () => clients.authenticateClient({ clientId: client.id, secret, source: "192.0.2.1" });
      const stored = async () => (await store.read((tx) => tx.clients.byId(client.id)))!.secrets;
      await clients.rotateSecret(client.id, 60_000);
      const [, replaced] = await stored();
      await authenticate();
      clock.nowMs = () => replaced!.endsMs! - 1;
      await authenticate();
      clock.nowMs = () => replaced!.endsMs!;
      await assert.rejects(authenticate(), InvalidClient);
      await clients.rotateSecret(client.id, 0);
      assert.deepEqual(
        (await stored()).map(({ endsMs }) => endsMs),
        [null],
      );
    }));

  it("registers addresses of any case, and none with a user name or a password", () =>
    on(async ({ add }) => {
      const redirectUris = ["https://A.Example/Back", "HTTPS://b.example/"];
      assert.deepEqual((await add({ redirectUris })).client.redirectUris, redirectUris);
      for (const address of ["https://ada@a.example/", "https://:word@a.example/", "https://ada:word@a.example/"]) {
        await assert.rejects(add({ redirectUris: [address] }), BadParameter, address);
      }
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

  it("that is suspended again stays suspended since the first time, and other nodes are told once", () =>
    on(async ({ store, clients, add }) => {
      const { client } = await add();
      const first = await clients.suspendClient(client.id);
      assert.ok(first.suspendedMs);
      assert.deepEqual(await clients.suspendClient(client.id), first);
      assert.deepEqual(await clients.findClient(client.id), first);
      const told = await store.read((tx) => tx.log.revocations(logStart, 10));
      assert.deepEqual(
        told.map((body) => JSON.parse(body)),
        [{ suspended: { clientId: client.id } }],
      );
      assert.equal((await clients.resumeClient(client.id)).suspendedMs, null);
    }));

  it("that does not exist is not found by a change", () =>
    on(async ({ clients }) => {
      await assert.rejects(clients.editClient("bwc_nobody", {}), NotFound);
      await assert.rejects(clients.rotateSecret("bwc_nobody", 0), NotFound);
      await assert.rejects(clients.removeClient("bwc_nobody"), NotFound);
    }));
});
