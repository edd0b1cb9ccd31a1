import assert from "node:assert/strict";
import { it } from "node:test";
import type { TenantId } from "../../../src/model/ids.ts";
import { virtualDeviceType } from "../../../src/model/virtual-device-type.ts";
import { findNames } from "../../../src/service/name-search.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { type Home, makeHome } from "./home.ts";
import { thingOf } from "./thing-table-cases.ts";

/** A home whose devices all belong to linked accounts, with a thing of each of these names. */
async function homeWithThings(store: OpenStore, user: string, names: readonly string[], form = compact): Promise<Home> {
  const home = await makeHome(store, { devices: 0, name: user });
  const device = { userId: home.userId, typeName: virtualDeviceType, name: "Hall account", isVirtual: true };
  return store.transaction(async (tx) => {
    const devices = [];
    for (const [nth, name] of names.entries()) {
      const deviceId = await tx.devices.add(device);
      devices.push(deviceId);
      await tx.things.put(thingOf(home, `t_${user}_${nth}`, { deviceId, descriptor: form(name) }));
    }
    return { ...home, devices };
  });
}

const compact = (name: string | null) => JSON.stringify([name, "Maple Street", null, null]);
const named = (name: string | null) => JSON.stringify({ kind: "alarm", name, homeName: "Maple Street" });

export function homeNameCases(harness: StoreHarness): void {
  const search = async (store: OpenStore, text: string, tenantIds: readonly TenantId[], options = {}) => {
    const { things, devices, areAllCompared } = await findNames(store, text, tenantIds, 11, options);
    return {
      things: things.map(({ thingId }) => thingId).sort(),
      devices: devices.map((one) => one.name).sort(),
      areAllCompared,
    };
  };

  it("find things by a part of the name in both forms, whatever the case, and no gone ones", () =>
    onStore(harness, async (store) => {
      const home = await homeWithThings(store, "ada", ["Küche", "Hall\nlamp", 'Quo"te']);
      await homeWithThings(store, "bo", ["KÜCHE links", "Cellar"], named);
      const tenants = [home.tenantId];
      const found = (text: string) => search(store, text, tenants);
      assert.deepEqual((await found("küche")).things, ["t_ada_0", "t_bo_0"]);
      assert.deepEqual((await found("HALL")).things, ["t_ada_1"], "no device of a linked account is found by its name");
      assert.deepEqual((await found("hall\nlamp")).things, ["t_ada_1"]);
      assert.deepEqual((await found('o"T')).things, ["t_ada_2"]);
      assert.deepEqual((await found("maple")).things, [], "only names are compared");
      assert.deepEqual((await found("Cellar")).things, ["t_bo_1"]);
      await store.transaction((tx) => tx.things.setGone(home.userId, ["t_ada_0"], 5));
      assert.deepEqual(await found("küche"), { things: ["t_bo_0"], devices: [], areAllCompared: true });
      assert.deepEqual((await search(store, "küche", [])).things, []);
      assert.deepEqual((await search(store, "küche", [(home.tenantId + 1) as TenantId])).things, []);
    }));

  it("find a thing beside one whose descriptor has text that PostgreSQL can't read", () =>
    onStore(harness, async (store) => {
      const modes = ["a\0\0b", "\ud800", "\udfff\ud83d", "c:\\u0000", "c:\\\0"];
      const odd = (name: string | null) => JSON.stringify([name, null, null, null, [4, modes]]);
      const oddNamed = (name: string | null) => JSON.stringify({ name, capabilities: { thermostat: { modes } } });
      const { tenantId } = await homeWithThings(store, "ada", ["Attic \\u0000 lamp 💡"], odd);
      await homeWithThings(store, "bo", ["Attic fan"], oddNamed);
      await homeWithThings(store, "cy", ["Attic door"]);
      assert.deepEqual((await search(store, "attic", [tenantId])).things, ["t_ada_0", "t_bo_0", "t_cy_0"]);
      assert.deepEqual((await search(store, "\\U0000 LAMP 💡", [tenantId])).things, ["t_ada_0"]);
    }));

  it("find the last of many, and own devices beside them", () =>
    onStore(harness, async (store) => {
      const { tenantId, userId } = await makeHome(store, { devices: 3 });
      const growth = { names: 0, bytes: 0, isErasing: false };
      await store.transaction(async (tx) => {
        const typeId = (await tx.devices.findType("lamp"))!;
        const device = { userId, typeId, name: "Filler", room: null, lastTimeMs: 1, growth };
        await tx.devices.addOwn(tenantId, new Array(1_600).fill(device));
        await tx.devices.addOwn(tenantId, [{ ...device, name: "Attic fan" }]);
      });
      await homeWithThings(store, "ada", ["Attic lamp"]);
      const tenants = [tenantId];
      const all = await search(store, "attic", tenants);
      assert.deepEqual(all, { things: ["t_ada_0"], devices: ["Attic fan"], areAllCompared: true });
      const many = await search(store, "filler", tenants);
      assert.ok(many.devices.length >= 11 && many.areAllCompared);
      assert.deepEqual((await search(store, "a", tenants)).things, ["t_ada_0"], "many devices don't hide a thing");
      const bounded = await search(store, "attic", tenants, { most: 1_000 });
      assert.deepEqual(bounded, { things: [], devices: [], areAllCompared: false });
      const exact = await search(store, "attic", tenants, { most: 2_000 });
      assert.equal(exact.areAllCompared, true);
    }));
}
