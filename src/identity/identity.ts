import type { Store, Transaction } from "../store/seam.ts";
import { type FailureLimitSettings, FailureLimits } from "./failure-limits.ts";
import { type PasswordOptions, passwords as passwordsWith } from "./passwords.ts";
import { type SecTokens, secTokensOn } from "./sec-tokens.ts";
import { type Tenants, tenantsOn } from "./tenants.ts";
import { type Users, usersOn } from "./users.ts";

/** Who there is and who is calling: the one thing about people that other parts are handed. */
export interface Identity extends Tenants, Users, SecTokens {}

export interface IdentityParts {
  readonly store: Store<Pick<Transaction, "tenants" | "users" | "secTokens">>;
  readonly nowMs: () => number;
  readonly passwords?: PasswordOptions;
  readonly failureLimits?: Partial<FailureLimitSettings>;
}

export function identityOn({ store, nowMs, passwords: passwordOptions, failureLimits }: IdentityParts): Identity {
  const passwords = passwordsWith(passwordOptions);
  const tenants = tenantsOn(store);
  return {
    ...tenants,
    ...usersOn(store, tenants, passwords),
    ...secTokensOn({ store, nowMs, passwords, limits: new FailureLimits(nowMs, failureLimits) }),
  };
}
