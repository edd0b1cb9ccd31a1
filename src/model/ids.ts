/** Branded types: a device id can't be passed where a user id is expected. All ids are integers below 2^31. */
export type TenantId = number & { readonly __id: "tenant" };
export type UserId = number & { readonly __id: "user" };
export type DeviceId = number & { readonly __id: "device" };
export type TriggerId = number & { readonly __id: "trigger" };
export type OperatorId = number & { readonly __id: "operator" };
export type NodeId = string & { readonly __id: "node" };

/**
 * The owner of a row in one number, by which a large deployment can be partitioned: a user's id, or a tenant's id
 * negated for what the tenant itself owns. 0 for what has no owner.
 */
export type OwnerId = UserId | (number & { readonly __id: "tenant's own" });

export function ownerIdOf({ userId, tenantId }: { userId: UserId | null; tenantId: TenantId | null }): OwnerId {
  return (userId ?? -(tenantId ?? 0)) as OwnerId;
}

const largestId = 2 ** 31 - 1;

/** Parses an id from text that a caller sent; undefined when it is not a valid id. */
export function parseId<Id extends number>(text: string): Id | undefined {
  if (!/^[1-9][0-9]{0,9}$/.test(text)) return undefined;
  const id = Number(text);
  return id <= largestId ? (id as Id) : undefined;
}
