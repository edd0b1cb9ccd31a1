import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import { AdditionLimits } from "../../src/provisioning/addition-limits.ts";
import { sized } from "../../src/provisioning/sized-device.ts";

/** The limits of a tenant whose clients have named so many types, on tables that count what is asked. */
function limitsWith({ types = 0, left = 10, ownDevices = 0, bytes = 0 }) {
  const added: string[] = [];
  const asked = { devices: 0, bytes: 0 };
  const tables = {
    devices: {
      findType: async (name: string) => (name === "known" ? 1 : undefined),
      countTypes: async () => types + added.length,
      addType: async (name: string) => 1 + added.push(name),
      countOwn: async () => {
        asked.devices += 1;
        return ownDevices;
      },
    },
    attributeUsage: {
      bytesOfUser: async () => {
        asked.bytes += 1;
        return bytes;
      },
    },
  };
  const checked = new AdditionLimits(tables as never, 1 as TenantId, left);
  const admit = (typeName: string, values: readonly string[] = []) => {
    const changes = values.map((value, index) => ({ key: `a${index}`, value }));
    return checked.admit(sized({ userId: 1 as UserId, name: "lamp", typeName, changes }));
  };
  return { admit, added, asked };
}

describe("the limits of devices that one transaction adds", () => {
  it("refuse a new type beyond those that a tenant may name, and take types that exist", async () => {
    const { admit, added } = limitsWith({ types: limits.deviceTypesPerTenant - 1 });
    assert.equal(await admit("one more"), 2);
    await assert.rejects(admit("too many"), { code: "limit_reached", limit: "deviceTypesPerTenant" });
    assert.equal(await admit("known"), 1);
    assert.equal(await admit("one more"), 2);
    assert.deepEqual(added, ["one more"]);
  });

  it("count the devices of this transaction for tenant and user, and count the stored ones once", async () => {
    const tenant = limitsWith({ left: 1 });
    await tenant.admit("known");
    await assert.rejects(tenant.admit("known"), { limit: "devicesPerTenant" });
    const user = limitsWith({ ownDevices: limits.devicesPerUser - 2 });
    await user.admit("known");
    await user.admit("known");
    await assert.rejects(user.admit("known"), { limit: "devicesPerUser" });
    assert.deepEqual(user.asked, { devices: 1, bytes: 0 });
  });

  it("count the bytes of first values, and refuse more names than a device may have", async () => {
    const { admit, asked } = limitsWith({ bytes: limits.attributeBytesPerUser - 10 });
    await admit("known", ["12345678"]);
    await assert.rejects(admit("known", ["1"]), { limit: "attributeBytesPerUser" });
    assert.equal(asked.bytes, 1);
    const names = Array.from({ length: limits.attributesPerDevice + 1 }, () => "");
    await assert.rejects(admit("known", names), { limit: "attributesPerDevice" });
  });
});
