import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { AccessScope } from "../../src/model/access-scope.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { type OwnPage, type OwnPlace, ownPage } from "../../src/own-things/own-thing-pages.ts";
import { OwnThings } from "../../src/own-things/own-things.ts";
import { makeHome } from "../contracts/store/home.ts";
import { clockedStore } from "./clocked-store.ts";
import { lampMap, plainIds } from "./made-own-things.ts";

/** Lamps, plugs and a type without a usable map, in this order, of Ada; and one lamp of Ben. */
async function madePages(t: TestContext) {
  const { store } = await clockedStore(t);
  const { tenantId, userId } = await makeHome(store, { devices: 0 });
  const { userId: benId } = await makeHome(store, { devices: 0, name: "Ben" });
  const add = (owner: UserId, typeName: string, room: string | null): Promise<DeviceId> =>
    store.transaction((tx) => tx.devices.add({ userId: owner, typeName, name: typeName, isVirtual: false, room }));
  const [lamp, plug] = [await add(userId, "lamp", "Hall"), await add(userId, "plug", "Hall")];
  const broken = await add(userId, "broken", "Hall");
  const [hidden, last] = [await add(userId, "lamp", "Attic"), await add(userId, "lamp", "Hall")];
  const ofBen = await add(benId, "lamp", "Hall");
  await store.transaction(async (tx) => {
    await tx.deviceTypeMaps.put(tenantId, "lamp", JSON.stringify(lampMap));
    await tx.deviceTypeMaps.put(tenantId, "plug", JSON.stringify({ ...lampMap, kind: "switch" }));
    await tx.deviceTypeMaps.put(tenantId, "broken", "{}");
  });
  const ownThings = new OwnThings(plainIds);
  /** The devices of each page. */
  const pages = async (accessScope: AccessScope, limit: number, filter: { kind?: string; room?: string } = {}) => {
    const found: (readonly DeviceId[])[] = [];
    for (let own: OwnPlace | undefined = {}; own; ) {
      const place = { kind: undefined, room: undefined, ...filter, own };
      const page: OwnPage = await store.read((tx) => ownPage(tx, ownThings, accessScope, place as never, limit));
      found.push(page.things.map(({ deviceId }) => deviceId));
      own = page.next;
      assert.ok(found.length < 20, "the pages do not end");
    }
    return found;
  };
  const user = { kind: "user", userId } as const;
  const tenant = { kind: "enterprise", tenantId } as const;
  return { pages, user, tenant, lamp, plug, hidden, last, ofBen, broken };
}

describe("pages of own things", () => {
  it("of a user go by device over all types", async (t) => {
    const { pages, user, lamp, plug, hidden, last } = await madePages(t);
    assert.deepEqual(await pages(user, 9), [[lamp, plug, hidden, last]]);
    assert.deepEqual(await pages(user, 4), [[lamp, plug, hidden, last]]);
    assert.deepEqual(await pages(user, 2), [
      [lamp, plug],
      [hidden, last],
    ]);
    assert.deepEqual(await pages(user, 3), [[lamp, plug, hidden], [last]]);
    assert.deepEqual(await pages(user, 2, { kind: "light" }), [[lamp, hidden], [last]]);
    assert.deepEqual(await pages(user, 2, { kind: "fan" }), [[]]);
    assert.deepEqual(await pages({ kind: "user", userId: 999 as UserId }, 2), [[]]);
  });

  it("of a tenant go type by type", async (t) => {
    const { pages, tenant, lamp, plug, hidden, last, ofBen } = await madePages(t);
    assert.deepEqual(await pages(tenant, 9), [[lamp, hidden, last, ofBen], [plug]]);
    assert.deepEqual(await pages(tenant, 3), [[lamp, hidden, last], [ofBen], [plug]]);
    assert.deepEqual(await pages(tenant, 9, { kind: "switch" }), [[plug]]);
  });

  it("of a room are as full as the limit allows, and end where no device follows", async (t) => {
    const { pages, user, tenant, lamp, plug, last, ofBen, hidden } = await madePages(t);
    assert.deepEqual(await pages(user, 9, { room: "Hall" }), [[lamp, plug, last]]);
    assert.deepEqual(await pages(user, 2, { room: "Hall" }), [[lamp, plug], [last]]);
    assert.deepEqual(await pages(tenant, 2, { room: "Hall" }), [[lamp, last], [ofBen], [plug]]);
    assert.deepEqual(await pages(tenant, 2, { room: "Attic" }), [[hidden], []]);
  });
});
