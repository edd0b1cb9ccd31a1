import assert from "node:assert/strict";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { PlatformClient } from "../stories/platform-client.ts";
import { callback, letIn } from "../stories/v3-client.ts";
import type { Fleet } from "./fleet.ts";

/** Somebody who uses the service by all its doors; what they hold is good at every node. */
export interface Guest {
  readonly userId: UserId;
  readonly accessToken: string;
  readonly secToken: string;
  readonly devices: readonly DeviceId[];
}

/** So many people with so many lamps each, signed in at whatever node `baseUrl` answers next. */
export async function inviteGuests(
  { parts }: Fleet,
  { people, lamps }: { readonly people: number; readonly lamps: number },
  baseUrl: () => string,
): Promise<readonly Guest[]> {
  const { identity, oauth, administration } = parts;
  const { tenantId, name: tenant } = await identity.addTenant({ name: "Guests" });
  const wanted = { tenant, name: "Remote", kind: "user", redirectUris: [callback], requiresPkce: false } as const;
  const { client, secret } = await oauth.addClient(wanted);
  const guests: Guest[] = [];
  for (let i = 1; i <= people; i++) {
    const person = { name: `guest ${i}`, password: "a good password" };
    const userId = await identity.addUser({ tenant, ...person, isAdmin: false });
    const devices: DeviceId[] = [];
    for (let n = 1; n <= lamps; n++) {
      const added = await administration.run("device add", { user: String(userId), name: `Lamp ${n}`, type: "Lamp" });
      devices.push((added as { readonly deviceId: DeviceId }).deviceId);
    }
    const { accessToken } = await letIn(baseUrl, { client_id: client.id, client_secret: secret }, person);
    const platform = new PlatformClient(baseUrl);
    await platform.login(person.name, person.password, tenantId);
    assert.ok(platform.secToken);
    guests.push({ userId, accessToken, secToken: platform.secToken, devices });
  }
  return guests;
}
