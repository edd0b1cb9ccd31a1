import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { traitMapTemplates } from "../../src/home/trait-map-templates.ts";
import { limits } from "../../src/model/limits.ts";
import { databases } from "../set-up/deployment.ts";
import { provisioningWorld } from "./world.ts";

const { lamp: lampMap, plug: plugMap } = traitMapTemplates;
const replayed = "idempotency-replayed";

for (const database of databases) {
  describe(`device types on ${database}`, () => {
    it("with new names are refused beyond the limit, also when their maps are removed again", async (t) => {
      const { world, send, lamp } = await provisioningWorld(t, { database });
      await send("POST", "/v3/devices", { json: lamp() });
      const { store } = world.service.parts;
      const named = await store.read((tx) => tx.devices.countTypes(world.tenantId));
      await store.transaction(async (tx) => {
        for (let n = named + 1; n < limits.deviceTypesPerTenant; n++) {
          await tx.devices.addType(`type ${n}`, world.tenantId);
        }
      });
      const set = (name: string) => send("PUT", `/v3/device-types/${name}`, { json: lampMap });
      assert.equal((await set("last")).status, 200);
      assert.equal((await send("DELETE", "/v3/device-types/last")).status, 204);
      const refused = await set("more");
      assert.deepEqual([refused.status, refused.body.error], [409, "limit_reached"]);
      assert.match(refused.body.error_description, /have named 1000 device types/);
      assert.equal(await store.read((tx) => tx.devices.findType("more")), undefined);
      for (const known of ["last", "Lamp"]) assert.equal((await set(known)).status, 200, known);
    });

    it("are set and removed once for each key", async (t) => {
      const { world, send } = await provisioningWorld(t, { database });
      const path = "/v3/device-types/Lamp";
      const set = (json: object, key: string) => send("PUT", path, { json, key });
      const first = await set(lampMap, "set");
      await set(plugMap, "replace");
      const again = await set(lampMap, "set");
      assert.deepEqual([again.status, again.text], [200, first.text]);
      assert.equal(again.headers.get(replayed), "true");
      assert.deepEqual((await send("GET", path)).body.map, plugMap);
      const other = await set(plugMap, "set");
      assert.deepEqual([other.status, other.body.error], [422, "idempotency_key_reused"]);
      const remove = () => send("DELETE", path, { key: "remove" });
      assert.equal((await remove()).status, 204);
      await set(lampMap, "set anew");
      const repeated = await remove();
      assert.deepEqual([repeated.status, repeated.headers.get(replayed)], [204, "true"]);
      assert.equal((await send("GET", path)).status, 200);
      const audited = await world.service.parts.identity.audit.list({ limit: 20 });
      assert.equal(audited.filter(({ act }) => act === "device_type").length, 4, "a repetition is not audited");
      // The same map changes nothing, and its answer is kept too.
      const [same, sameAgain] = [await set(lampMap, "same"), await set(lampMap, "same")];
      assert.deepEqual([sameAgain.text, sameAgain.headers.get(replayed)], [same.text, "true"]);
    });
  });
}
