import type { OwnerId, TenantId, UserId } from "./ids.ts";

/**
 * What a caller may read and write: the data of one user, or of one tenant with all its users. It is passed down to the
 * SQL statements, so an object outside the scope looks as if it did not exist. Every `Principal` is an access scope.
 */
export type AccessScope =
  | { readonly kind: "user"; readonly userId: UserId }
  | { readonly kind: "enterprise"; readonly tenantId: TenantId };

/** The owner of what a caller creates: the user, or the tenant itself as a negative number (`OwnerId`). */
export function ownerWithin(accessScope: AccessScope): OwnerId {
  return (accessScope.kind === "user" ? accessScope.userId : -accessScope.tenantId) as OwnerId;
}
