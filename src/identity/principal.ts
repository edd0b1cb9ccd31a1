import type { TenantId, UserId } from "../model/ids.ts";
import type { Scopes } from "../model/scopes.ts";

/** On whose behalf a call is made. Each kind has its own type, so that no rule can confuse them. */
export type Principal = UserPrincipal | EnterprisePrincipal;

/** A platform user, who can access only their own data. */
export interface UserPrincipal {
  readonly kind: "user";
  readonly userId: UserId;
  readonly tenantId: TenantId;
}

/** A client that acts for a whole tenant. It can access the data of all users of the tenant. */
export interface EnterprisePrincipal {
  readonly kind: "enterprise";
  readonly tenantId: TenantId;
}

/** The principal of an access token, with the token's scopes. */
export type ScopedPrincipal = Principal & { readonly scopes: Scopes };
