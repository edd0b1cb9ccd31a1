import { linkEntry } from "../devices/log-entries.ts";
import { tokenContext } from "../federation/link-key.ts";
import type { TenantId, UserId } from "../model/ids.ts";
import type { LostValue } from "../store/keys/key-drop.ts";
import type { Sealer } from "../store/keys/sealing.ts";
import type { Transaction } from "../store/seam.ts";
import type { SealedLocation } from "../store/tables/sealed-values.ts";

const reason = "its token was sealed with a key that is lost; connect the account again";

/**
 * Gives up a value whose key is lost, and returns what an operator has to know about it. A link loses its token and its
 * credential: device, indexes, alerts and history stay, and the user links again. A link whose credential alone is lost
 * keeps its token, which serves until it expires. A webhook is removed: without its secret or its
 * address nothing can be delivered. An outlet to an assistant is removed, its client stays. A user whose assistant's
 * credential is lost links the assistant again. The stored answer of an idempotent request and a link session are removed
 * without a report: both end by themselves soon.
 */
export async function dropValue(
  tx: Transaction,
  sealer: Sealer,
  location: SealedLocation,
): Promise<LostValue | undefined> {
  if (location.kind === "answer") {
    await tx.idempotencyKeys.remove({ ownerId: location.ownerId, hash: location.id });
    return undefined;
  }
  if (location.kind === "link session") {
    await tx.linkSessions.remove(location);
    return undefined;
  }
  if (location.kind === "assistant outlet") {
    const { ownerId, id } = location;
    const outlet = await tx.assistantOutlets.byId(id);
    await tx.assistantOutlets.remove({ tenantId: -ownerId as TenantId, id });
    return { kind: "outlet", id, ownerId, clientId: outlet?.clientId ?? "" };
  }
  if (location.kind === "assistant credential") {
    await tx.assistantGrants.remove({ userId: location.ownerId as UserId, outletId: location.id });
    return undefined;
  }
  if (!("ecosystem" in location)) return removeWebhook(tx, location);
  const { kind, userId, ecosystem } = location;
  const nowMs = await tx.users.lock(userId);
  const link = nowMs === undefined ? undefined : await tx.links.find(userId, ecosystem);
  if (nowMs === undefined || !link) return undefined;
  const { deviceId } = link;
  if (kind === "link credential") {
    await tx.links.removeCredential(userId, deviceId);
    return { kind: "link", userId, deviceId, ecosystem };
  }
  await tx.links.setToken(userId, deviceId, sealer.seal("", tokenContext(userId, ecosystem)));
  const blindness = link.blindness ?? { sinceMs: link.confirmedMs, cause: reason };
  await tx.links.setState(userId, deviceId, { state: "needs_reauth", reason, blindness });
  await tx.log.append(linkEntry(userId, deviceId, nowMs, { ecosystem, state: "needs_reauth", reason }));
  // The owner node must read the link again. A new epoch (fencing token) refuses its writes until it has.
  if (link.owner !== null) await tx.links.takeOver(userId, deviceId, link.owner);
  return { kind: "link", userId, deviceId, ecosystem };
}

async function removeWebhook(
  tx: Transaction,
  { ownerId, id }: Extract<SealedLocation, { readonly ownerId: unknown }>,
): Promise<LostValue> {
  await tx.webhooks.lockFeed();
  await tx.webhooks.lock({ ownerId, id });
  const webhook = await tx.webhooks.byKey({ ownerId, id });
  await tx.webhooks.remove({ ownerId, id });
  return { kind: "webhook", id, ownerId, clientId: webhook?.clientId ?? "" };
}
