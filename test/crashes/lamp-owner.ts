import { addClient, addGrant, type GrantedClient } from "../../bench/granted-client.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { addDevice } from "../../src/provisioning/operator-devices.ts";
import type { Parts } from "../../src/service/parts.ts";

/** A user with a lamp that no other client writes, and an access token. */
export interface LampOwner {
  readonly userId: UserId;
  readonly lamp: DeviceId;
  readonly accessToken: string;
}

export interface LampOwners {
  readonly client: GrantedClient;
  readonly owners: readonly LampOwner[];
}

export async function addLampOwners(parts: Parts, userIds: readonly UserId[]): Promise<LampOwners> {
  const { store, oauth } = parts;
  const { tenantId } = (await store.read((tx) => tx.users.byId(userIds[0]!)))!;
  const client = await addClient({ oauth }, tenantId);
  const owners: LampOwner[] = [];
  for (const userId of userIds) {
    const lamp = await addDevice(store, { userId, typeName: "Lamp", name: "Lamp" });
    const { accessToken } = await store.transaction((tx) => addGrant(tx, client, userId));
    owners.push({ userId, lamp, accessToken });
  }
  return { client, owners };
}

/** All committed values of a lamp, oldest first; undefined while the service cannot answer. */
export async function historyOf(baseUrl: string, { lamp, accessToken }: LampOwner): Promise<string[] | undefined> {
  const headers = { authorization: `Bearer ${accessToken}` };
  const values: string[] = [];
  for (let cursor = ""; ; ) {
    const answer = await fetch(`${baseUrl}/v3/devices/${lamp}/history?cursor=${cursor}`, { headers });
    if (answer.status !== 200) return void (await answer.body?.cancel());
    const page = (await answer.json()) as { changes: { value: string }[]; cursor?: string };
    values.push(...page.changes.map(({ value }) => value));
    if (page.cursor === undefined) return values;
    cursor = page.cursor;
  }
}

/** The pause between two attempts while the database is down. */
export const retryPauseMs = 20;
