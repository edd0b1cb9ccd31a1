import type { TenantId, UserId } from "../model/ids.ts";
import type { Scopes } from "../model/scopes.ts";

/** In whose name a call is made. A kind of its own per reach, so that no rule can take one for another. */
export type Principal = UserPrincipal | EnterprisePrincipal;

/** A platform user: sees and changes what is theirs, nothing else. */
export interface UserPrincipal {
  readonly kind: "user";
  readonly userId: UserId;
  readonly tenantId: TenantId;
}

/** A client that speaks for a whole tenant: sees and changes what belongs to its users, and is none of them. */
export interface EnterprisePrincipal {
  readonly kind: "enterprise";
  readonly tenantId: TenantId;
}

/** A principal as one access token stands for it: with what the token may be used for. */
export type ScopedPrincipal = Principal & { readonly scopes: Scopes };
