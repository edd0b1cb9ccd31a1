import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TenantId } from "../../src/model/ids.ts";
import { ClientCache } from "../../src/oauth/client-cache.ts";
import type { ClientRow } from "../../src/store/tables/clients.ts";

type Parts = ConstructorParameters<typeof ClientCache>[0];

/** A store with one client. Its name is that of its last change. Reads wait until `until` resolves. */
function clients(isShared: boolean) {
  const state = { reads: 0, name: "first", until: Promise.resolve() };
  const row = (): ClientRow => ({
    ...{ id: "bwc_1", tenantId: 1 as TenantId, name: state.name, kind: "user", redirectUris: [], requiresPkce: false },
    ...{ hasStrictScopes: true, suspendedMs: null },
    ...{ secrets: [], createdMs: 0, returnUrls: [], vouchesForUsers: false, sendsIssuer: true },
  });
  const store = {
    isShared,
    async read(body: (tx: unknown) => Promise<unknown>) {
      state.reads++;
      const seen = row();
      await state.until;
      const byId = async (id: string) => (id === seen.id ? seen : undefined);
      return body({ clients: { byId }, clock: { nowMs: async () => 5 } });
    },
  } as unknown as Parts["store"];
  return { state, cache: new ClientCache({ store, nowMs: () => 7 }) };
}

describe("a client in the cache", () => {
  it("is cached until it is changed, when this process is the only writer", async () => {
    const { state, cache } = clients(false);
    assert.deepEqual([(await cache.find("bwc_1")).row?.name, (await cache.find("bwc_1")).nowMs], ["first", 7]);
    assert.equal(state.reads, 1);
    state.name = "second";
    cache.forget("bwc_1");
    assert.equal((await cache.find("bwc_1")).row?.name, "second");
  });

  it("is read again each time on a shared store, and so is an unknown client", async () => {
    const shared = clients(true);
    for (let i = 0; i < 2; i++) assert.equal((await shared.cache.find("bwc_1")).nowMs, 5);
    assert.equal(shared.state.reads, 2);
    const { state, cache } = clients(false);
    for (let i = 0; i < 2; i++) assert.equal((await cache.find("bwc_2")).row, undefined);
    assert.equal(state.reads, 2);
  });

  it("is not cached when it was changed during the read", async () => {
    const { state, cache } = clients(false);
    const slow = Promise.withResolvers<void>();
    state.until = slow.promise;
    const early = cache.find("bwc_1");
    state.name = "second";
    cache.forget("bwc_1");
    slow.resolve();
    assert.equal((await early).row?.name, "first");
    assert.equal((await cache.find("bwc_1")).row?.name, "second");
  });
});
