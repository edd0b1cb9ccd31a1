import type { OwnerId, TenantId, UserId } from "./ids.ts";

/**
 * How far a caller sees: a user's own home, or everything of one tenant. Whoever reads or writes for a caller hands it
 * down to the statement itself, so that what lies outside is as absent as what never was. A principal is one.
 */
export type AccessScope =
  | { readonly kind: "user"; readonly userId: UserId }
  | { readonly kind: "enterprise"; readonly tenantId: TenantId };

/** Whose the things are that a caller makes: the user's, or the tenant's own. */
export function ownerWithin(accessScope: AccessScope): OwnerId {
  return (accessScope.kind === "user" ? accessScope.userId : -accessScope.tenantId) as OwnerId;
}
