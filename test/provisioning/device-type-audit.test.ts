import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { traitMapTemplates } from "../../src/home/trait-map-templates.ts";
import type { Incoming } from "../../src/http/request/incoming.ts";
import type { AuditEntry } from "../../src/identity/audit.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { deviceTypeRoutes } from "../../src/outlets/v3/device-type-routes.ts";
import { TraitMaps } from "../../src/own-things/trait-maps.ts";
import { deviceTypesOn } from "../../src/provisioning/device-types.ts";
import { onStore } from "../contracts/store/harness.ts";
import { makeHome } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

describe("a change of a device type", () => {
  it("is not made when its client can't be read for the audit log: the answer says that nothing was changed", () =>
    onStore(sqliteHarness, async (store) => {
      const { tenantId } = await makeHome(store);
      const entries: AuditEntry[] = [];
      let isReadable = false;
      const deviceTypes = deviceTypesOn(store, new TraitMaps());
      const routes = deviceTypeRoutes({
        deviceTypes,
        audit: { record: async (entry) => void entries.push(entry) },
        idempotency: { run: () => assert.fail("there is no key") },
        tokens: {
          async clientOf() {
            if (!isReadable) throw new StoreUnavailable("The store can't be read. Nothing was changed.");
            return "client 1";
          },
        },
      });
      const call = async (method: "PUT" | "DELETE", body: object = { kind: "none" }) => {
        const route = routes.find(({ methods }) => methods.includes(method));
        assert.ok(route?.access === "bearer");
        const incoming = { bearer: "token", source: "::1", body, pathParameters: { deviceTypeName: "Lamp" } };
        const caller = { kind: "enterprise", tenantId, scopes: undefined } as unknown as Parameters<
          typeof route.answer
        >[1];
        return route.answer(incoming as unknown as Incoming, caller);
      };
      const names = async () => (await deviceTypes.list(tenantId)).map(({ name }) => name);
      await assert.rejects(call("PUT", { kind: "json", value: traitMapTemplates.lamp }), StoreUnavailable);
      assert.deepEqual(await names(), []);
      isReadable = true;
      await call("PUT", { kind: "json", value: traitMapTemplates.lamp });
      isReadable = false;
      await assert.rejects(call("DELETE"), StoreUnavailable);
      assert.deepEqual(await names(), ["Lamp"]);
      isReadable = true;
      await call("DELETE");
      assert.deepEqual(await names(), []);
      assert.deepEqual(
        entries.map(({ act, clientId, detail }) => [act, clientId, detail?.change]),
        [
          ["device_type", "client 1", "set"],
          ["device_type", "client 1", "removed"],
        ],
      );
    }));
});
