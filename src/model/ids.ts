/** Ids have their own types, so that a device's id can't stand where a user's is meant. All are integers below 2^31. */
export type TenantId = number & { readonly __id: "tenant" };
export type UserId = number & { readonly __id: "user" };
export type DeviceId = number & { readonly __id: "device" };
export type TriggerId = number & { readonly __id: "trigger" };
export type NodeId = string & { readonly __id: "node" };

/**
 * Whose something is, in one number, by which a large deployment can be split: a user's id, or a tenant's, negated, for
 * what is the tenant's own. 0 for what is nobody's.
 */
export type OwnerId = UserId | (number & { readonly __id: "tenant's own" });

export function ownerIdOf({ userId, tenantId }: { userId: UserId | null; tenantId: TenantId | null }): OwnerId {
  return (userId ?? -(tenantId ?? 0)) as OwnerId;
}

const largestId = 2 ** 31 - 1;

/** Reads an id from text that a caller sent; undefined when it is no id at all. */
export function parseId<Id extends TenantId | UserId | DeviceId | TriggerId>(text: string): Id | undefined {
  if (!/^[1-9][0-9]{0,9}$/.test(text)) return undefined;
  const id = Number(text);
  return id <= largestId ? (id as Id) : undefined;
}
