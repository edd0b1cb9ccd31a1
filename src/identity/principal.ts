import type { TenantId, UserId } from "../model/ids.ts";

/** In whose name a call is made. A kind of its own per reach, so that no rule can take one for another. */
export type Principal = UserPrincipal;

/** A platform user: sees and changes what is theirs, nothing else. */
export interface UserPrincipal {
  readonly kind: "user";
  readonly userId: UserId;
  readonly tenantId: TenantId;
}
