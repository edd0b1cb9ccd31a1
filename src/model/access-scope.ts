import type { OwnerId, TenantId, UserId } from "./ids.ts";

/**
 * What a caller may read and write: one user's own home, or everything of one tenant. It is passed down into each SQL
 * statement, so an object outside the scope looks as if it did not exist. Every principal is an access scope.
 */
export type AccessScope =
  | { readonly kind: "user"; readonly userId: UserId }
  | { readonly kind: "enterprise"; readonly tenantId: TenantId };

/** The owner of what a caller creates: the user, or the tenant itself. */
export function ownerWithin(accessScope: AccessScope): OwnerId {
  return (accessScope.kind === "user" ? accessScope.userId : -accessScope.tenantId) as OwnerId;
}
