import type { UserId } from "../../../model/ids.ts";
import type { AdminAct } from "../../administration/admin-command.ts";
import { id, optional } from "../../input.ts";
import { chosenTenant } from "../tenant-option.ts";

/** All devices with their owners, over all tenants. */
export const deviceOwners: AdminAct = {
  name: "device owners",
  async act({ identity, devices }, input) {
    const users =
      optional(input, "user") === undefined
        ? await identity.listUsers(await chosenTenant(identity, input))
        : [await identity.findUser(id<UserId>(input, "user"))];
    const type = optional(input, "type");
    const found = [];
    for (const { userId, name } of users) {
      for (const device of await devices.list(userId)) {
        if (type !== undefined && device.typeName !== type) continue;
        found.push({
          deviceId: device.id,
          deviceName: device.name,
          deviceTypeName: device.typeName,
          userId,
          userName: name,
        });
      }
    }
    return { answer: { devices: found.sort((a, b) => a.deviceId - b.deviceId) } };
  },
};
