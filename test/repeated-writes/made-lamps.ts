import { randomUUID } from "node:crypto";
import type { Config } from "../../src/config/config.ts";
import { keyOf, newOwnedSecret } from "../../src/identity/secrets.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts } from "../../src/service/parts.ts";

/** Users with a lamp and an access token each, in a store that nobody else has open. */
export async function madeLamps(config: Config, count: number) {
  const { identity, oauth, administration, store, close } = await openParts(config, startLogging("silent"));
  try {
    const { tenantId } = await identity.addTenant({ name: "Acme" });
    const redirectUris = ["http://127.0.0.1:9/callback"];
    const wanted = { tenant: "Acme", name: "Writer", kind: "user", redirectUris, requiresPkce: false } as const;
    const clientId = (await oauth.addClient(wanted)).client.id;
    const lamps: { readonly accessToken: string; readonly lampId: DeviceId }[] = [];
    for (let i = 0; i < count; i++) {
      const person = { tenant: "Acme", name: `user ${i}`, password: "correct horse", isAdmin: false };
      const userId = await identity.addUser(person);
      const lamp = { user: String(userId), name: "Lamp", type: "Lamp" };
      const { deviceId: lampId } = (await administration.run("device add", lamp)) as { readonly deviceId: DeviceId };
      const accessToken = newOwnedSecret("bwa_", userId);
      await store.transaction(async (tx) => {
        const id = randomUUID();
        await tx.grants.add({ id, tenantId, userId, clientId, covers: "user" });
        await tx.accessTokens.add(keyOf(accessToken), id, (await tx.clock.nowMs()) + 7_200_000);
      });
      lamps.push({ accessToken, lampId });
    }
    return lamps;
  } finally {
    await close();
  }
}
