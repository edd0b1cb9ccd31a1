import type { TenantId } from "../../../../src/model/ids.ts";
import type { Attack } from "../attack.ts";
import { sendMany } from "../requests.ts";

const searches = 40;
const devicesOfTenant = 200_000;
const devicesAtOnce = 2_000;

/** 40 searches of one tenant's administrator at once, each of which compares 200,000 names. */
export const administratorsSearches: Attack = {
  name: "searches of an administrator",
  only: "SQLite, direct",
  async fill({ store }, target) {
    const tenantId = target.tenantId as TenantId;
    const growth = { names: 0, bytes: 0, isErasing: false };
    for (let from = 0; from < devicesOfTenant; from += devicesAtOnce) {
      await store.transaction(async (tx) => {
        const user = { tenantId, name: `filled ${from}`, passwordHash: "no valid hash", isAdmin: false };
        const userId = (await tx.users.add(user))!;
        const typeId = await tx.devices.addType("Lamp", tenantId);
        const rows = Array.from({ length: devicesAtOnce }, (_, i) => {
          return { userId, typeId, name: `Lamp of the hall ${from + i}`, room: "Hall", lastTimeMs: 1, growth };
        });
        await tx.devices.addOwn(tenantId, rows);
      });
    }
  },
  run: (target) =>
    sendMany(target, { count: searches, atOnce: searches, forMs: 20_000 }, (place) => ({
      path: `/admin/v1/found?text=nowhere-${place}`,
      token: target.operatorToken,
    })),
};
