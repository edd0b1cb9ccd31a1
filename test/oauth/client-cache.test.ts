import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TenantId } from "../../src/model/ids.ts";
import { ClientCache } from "../../src/oauth/client-cache.ts";
import type { ClientRow } from "../../src/store/tables/clients.ts";

type Parts = ConstructorParameters<typeof ClientCache>[0];

/** A store with one client. Its name is that of its last change. Reads wait until `until` resolves. */
function clients(isShared: boolean) {
  const asked = { reads: 0, name: "first", until: Promise.resolve() };
  const row = (): ClientRow => ({
    ...{ id: "bwc_1", tenantId: 1 as TenantId, name: asked.name, kind: "user", redirectUris: [], requiresPkce: false },
    ...{ secrets: [], createdMs: 0 },
  });
  const store = {
    isShared,
    async read(body: (tx: unknown) => Promise<unknown>) {
      asked.reads++;
      const seen = row();
      await asked.until;
      const byId = async (id: string) => (id === seen.id ? seen : undefined);
      return body({ clients: { byId }, clock: { nowMs: async () => 5 } });
    },
  } as unknown as Parts["store"];
  return { asked, known: new ClientCache({ store, nowMs: () => 7 }) };
}

describe("a client in the cache", () => {
  it("is cached until it is changed, when this process is the only writer", async () => {
    const { asked, known } = clients(false);
    assert.deepEqual([(await known.find("bwc_1")).row?.name, (await known.find("bwc_1")).nowMs], ["first", 7]);
    assert.equal(asked.reads, 1);
    asked.name = "second";
    known.forget("bwc_1");
    assert.equal((await known.find("bwc_1")).row?.name, "second");
  });

  it("is read again each time on a shared store, and so is an unknown client", async () => {
    const shared = clients(true);
    for (let i = 0; i < 2; i++) assert.equal((await shared.known.find("bwc_1")).nowMs, 5);
    assert.equal(shared.asked.reads, 2);
    const { asked, known } = clients(false);
    for (let i = 0; i < 2; i++) assert.equal((await known.find("bwc_2")).row, undefined);
    assert.equal(asked.reads, 2);
  });

  it("is not cached when it was changed during the read", async () => {
    const { asked, known } = clients(false);
    const slow = Promise.withResolvers<void>();
    asked.until = slow.promise;
    const early = known.find("bwc_1");
    asked.name = "second";
    known.forget("bwc_1");
    slow.resolve();
    assert.equal((await early).row?.name, "first");
    assert.equal((await known.find("bwc_1")).row?.name, "second");
  });
});
