import assert from "node:assert/strict";
import type { OwnerId } from "../../../src/model/ids.ts";
import { limits } from "../../../src/model/limits.ts";
import { useKeysOfMany } from "./documented-provisioning.ts";
import type { DocumentedWorld } from "./documented-world.ts";

/** Each write that takes an Idempotency-Key: with a used key, one in use, and one too many. */
export async function useKeys(world: DocumentedWorld, bearer: string, lampId: string): Promise<void> {
  const { call, operations, parts, userId } = world;
  const writes = operations.filter(({ parameters }) => parameters?.some(({ name }) => name === "Idempotency-Key"));
  assert.equal(writes.length, 16);
  await call("updateDevice", 200, { bearer, at: lampId, json: { power: "on" }, key: "used" });
  const idempotent = { ownerId: userId, clientId: await parts.oauth.clientOf(bearer), content: "", isSecret: false };
  const held = Promise.withResolvers<void>();
  const underWay = parts.idempotency.run({ ...idempotent, key: "in use" }, () => held.promise);
  // A tenant of its own: the keys of a tenant that has used one were counted a moment ago.
  const { tenantId } = await parts.identity.addTenant({ name: "Full" });
  const wanted = {
    tenant: "Full",
    name: "Company",
    kind: "enterprise",
    redirectUris: [],
    requiresPkce: false,
  } as const;
  const { client, secret } = await parts.oauth.addClient(wanted);
  const credentials = { client_id: client.id, client_secret: secret, grant_type: "client_credentials" };
  const issued = await call("issueToken", 200, { json: credentials });
  const full = { isSealed: false, text: "x".repeat(limits.idempotencyBytesPerOwner) } as const;
  const key = { ownerId: -tenantId as OwnerId, hash: "full" };
  await parts.store.transaction((tx) => tx.idempotencyKeys.add(key, full, 60_000));
  // These check first whether the token is an enterprise client's.
  const ofMany = ["addDevices", "writeStates"];
  for (const { operationId } of writes.filter((one) => !ofMany.includes(one.operationId))) {
    await call(operationId, 422, { bearer, at: "999/1", key: "used", json: {} });
    await call(operationId, 409, { bearer, at: "999/1", key: "in use", json: {} });
    await call(operationId, 409, { bearer: issued.access_token, at: "999/1", key: "one too many", json: {} });
  }
  held.resolve();
  await underWay;
  await useKeysOfMany(world, issued.access_token, tenantId);
}
