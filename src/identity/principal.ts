import type { TenantId, UserId } from "../model/ids.ts";
import { hasScope, type Scopes } from "../model/scopes.ts";

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
export type ScopedPrincipal = Principal & {
  readonly scopes: Scopes;
  /** A person gave the grant of the token, without scopes. A refresh may have given the token scopes of its own. */
  readonly isUnscopedGrant?: boolean;
};

/** The principal of a request, with the client that sent it. A call with a security token has no client. */
export type CallingPrincipal = ScopedPrincipal & {
  readonly clientId?: string | undefined;
  /** A command on the service's own machine sent it. */
  readonly isCommand?: true;
};

/**
 * Whether a person has consented to a command. A user or administrator who granted access without any scope allowed what
 * clients could do before scopes existed: run fans. Heating and everything else need an explicit consent. The grant
 * decides: scopes that a refresh has asked for can only narrow the token. A token that an enterprise client got with its
 * own secret needs nobody's consent.
 */
export function hasConsent(caller: ScopedPrincipal, { trait }: { readonly trait: string }): boolean {
  const isUnscoped = caller.isUnscopedGrant || (caller.kind === "user" && caller.scopes === null);
  if (isUnscoped && trait !== "fanTimer") return false;
  return hasScope(caller, "devices:control");
}
