import assert from "node:assert/strict";
import { traitMapTemplates } from "../../../src/home/trait-map-templates.ts";
import { limits } from "../../../src/model/limits.ts";
import type { DocumentedWorld } from "./documented-world.ts";

/** Every documented answer of the calls for device types. At the end the tenant has nearly as many maps as it may have. */
export async function useDeviceTypes({ call, addClient, parts }: DocumentedWorld, userToken: string): Promise<void> {
  const enterprise = await addClient("enterprise");
  const issued = await call("issueToken", 200, { json: { ...enterprise, grant_type: "client_credentials" } });
  const bearer: string = issued.access_token;
  const map = traitMapTemplates.lamp;
  const at = "Bulb";
  await call("setDeviceType", 200, { bearer, at, json: map });
  await call("setDeviceType", 400, { bearer, at, json: { ...map, kind: "ghost" } });
  await call("setDeviceType", 403, { bearer: userToken, at, json: map });
  const { deviceTypes } = await call("listDeviceTypes", 200, { bearer });
  assert.deepEqual(deviceTypes, [await call("getDeviceType", 200, { bearer, at })]);
  await call("listDeviceTypes", 403, { bearer: userToken });
  await call("getDeviceType", 403, { bearer: userToken, at });
  await call("getDeviceType", 404, { bearer, at: "Ghost" });
  const { tenantId } = await parts.identity.findTenant("Story");
  await parts.store.transaction(async (tx) => {
    for (let nth = 1; nth < limits.traitMapsPerTenant; nth++) {
      await tx.deviceTypeMaps.put(tenantId, `Type ${nth}`, JSON.stringify(map));
    }
  });
  await call("setDeviceType", 409, { bearer, at: "One too many", json: map });
  await call("removeDeviceType", 400, { bearer, at, json: {} });
  await call("removeDeviceType", 403, { bearer: userToken, at });
  await call("removeDeviceType", 204, { bearer, at });
  await call("removeDeviceType", 404, { bearer, at });
}
