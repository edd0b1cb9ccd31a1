import type { DeviceId } from "../model/ids.ts";
import type { OnLimitReached } from "../model/limits.ts";
import type { Logger } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import { type Audit, auditOn } from "./audit.ts";
import { type Brands, brandsOn } from "./brand.ts";
import type { FailureTables } from "./failure-counts.ts";
import { defaultFailureLimits, type FailureLimitSettings, FailureLimits, failureCountsFor } from "./failure-limits.ts";
import { type PasswordOptions, type Passwords, passwords as passwordsWith } from "./passwords.ts";
import type { RemovalTables } from "./removal.ts";
import { type SecTokens, secTokensOn } from "./sec-tokens.ts";
import { type SignIn, type SignInTables, signInOn } from "./sign-in.ts";
import type { HeldTables, Suspended } from "./suspension.ts";
import { type Tenants, tenantsOn } from "./tenants.ts";
import { type UserReading, userReadingOn } from "./user-reading.ts";
import { type Users, usersOn } from "./users.ts";

/** Tenants, users, and the authentication of users, for all other parts. */
export interface Identity extends Tenants, Brands, Users, UserReading, SecTokens {
  readonly signIn: SignIn;
  readonly audit: Audit;
  /** The queue of passwords and the limits of failures, for everyone who signs in. */
  readonly passwords: Passwords;
  readonly failureLimits: FailureLimits;
}

export interface IdentityParts {
  readonly store: Store<SignInTables & RemovalTables & HeldTables & FailureTables>;
  /** This node's monotonic clock. */
  readonly elapsedMs: () => number;
  readonly report: Logger;
  /** Called when grants have ended and that is durable, so that caches drop them. */
  readonly grantsEnded: (grantIds: readonly string[]) => void;
  readonly devicesRemoved: (deviceIds: readonly DeviceId[]) => void;
  /** Called when a user was suspended and that is durable. */
  readonly suspended: (suspended: Suspended) => void;
  /** Called for sign-ins that were refused because of a limit. */
  readonly onLimitReached?: OnLimitReached;
  readonly passwords?: PasswordOptions;
  readonly failureLimits?: Partial<FailureLimitSettings>;
}

export function identityOn(parts: IdentityParts): Identity {
  const { store, elapsedMs, report, failureLimits, onLimitReached = () => undefined } = parts;
  const passwords = passwordsWith({ onLimitReached, ...parts.passwords });
  const audit = auditOn(store, report);
  const tenants = tenantsOn(store);
  const counts = failureCountsFor("sign_in", { store, elapsedMs });
  const limits = new FailureLimits(counts, failureLimits, () => onLimitReached("signInsPerSource"));
  const signIn = signInOn({ store, passwords, limits, audit });
  const secTokens = secTokensOn({ store, signIn, onLimitReached });
  return {
    ...tenants,
    ...brandsOn(store),
    ...usersOn({ ...parts, tenants, passwords, limits }),
    ...userReadingOn(store),
    ...secTokens,
    sweep: async () => (await secTokens.sweep()) + (await audit.sweep()) + (await removeOldCounts(store)),
    signIn,
    audit,
    passwords,
    failureLimits: limits,
  };
}

/** Removes failure counts of all purposes that have expired. */
function removeOldCounts(store: Store<FailureTables>): Promise<number> {
  return store.transaction((tx) => tx.failureCounts.removeQuiet(defaultFailureLimits.forgetAfterMs));
}
