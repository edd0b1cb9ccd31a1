import type { TenantId, UserId } from "./ids.ts";

/**
 * How far a caller sees: a user's own home, or everything of one tenant. Whoever reads or writes for a caller hands it
 * down to the statement itself, so that what lies outside is as absent as what never was. A principal is one.
 */
export type Reach =
  | { readonly kind: "user"; readonly userId: UserId }
  | { readonly kind: "enterprise"; readonly tenantId: TenantId };
