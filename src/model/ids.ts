/** Ids have their own types, so that a device's id can't stand where a user's is meant. All are integers below 2^31. */
export type TenantId = number & { readonly __id: "tenant" };
export type UserId = number & { readonly __id: "user" };
export type DeviceId = number & { readonly __id: "device" };
export type TriggerId = number & { readonly __id: "trigger" };
export type NodeId = string & { readonly __id: "node" };

const largestId = 2 ** 31 - 1;

/** Reads an id from text that a caller sent; undefined when it is no id at all. */
export function parseId<Id extends TenantId | UserId | DeviceId | TriggerId>(text: string): Id | undefined {
  if (!/^[1-9][0-9]{0,9}$/.test(text)) return undefined;
  const id = Number(text);
  return id <= largestId ? (id as Id) : undefined;
}
