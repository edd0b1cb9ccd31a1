import type { DeviceId } from "../model/ids.ts";
import type { ReachLimit } from "../model/limits.ts";
import type { Report } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import { type Audit, auditOn } from "./audit.ts";
import { type Brands, brandsOn } from "./brand.ts";
import type { FailureTables } from "./failure-counts.ts";
import { defaultFailureLimits, type FailureLimitSettings, FailureLimits, failureCountsFor } from "./failure-limits.ts";
import { type PasswordOptions, passwords as passwordsWith } from "./passwords.ts";
import type { RemovalTables } from "./removal.ts";
import { type SecTokens, secTokensOn } from "./sec-tokens.ts";
import { type SignIn, type SignInTables, signInOn } from "./sign-in.ts";
import { type Tenants, tenantsOn } from "./tenants.ts";
import { type UserReading, userReadingOn } from "./user-reading.ts";
import { type Users, usersOn } from "./users.ts";

/** Who there is and who is calling: the one thing about people that other parts are handed. */
export interface Identity extends Tenants, Brands, Users, UserReading, SecTokens {
  readonly signIn: SignIn;
  readonly audit: Audit;
}

export interface IdentityParts {
  readonly store: Store<SignInTables & RemovalTables & FailureTables>;
  readonly nowMs: () => number;
  readonly report: Report;
  /** Told when they have ended and that is durable, so that whatever remembers them forgets. */
  readonly grantsEnded: (grantIds: readonly string[]) => void;
  readonly devicesRemoved: (deviceIds: readonly DeviceId[]) => void;
  /** Counts sign-ins that were refused because of a limit. */
  readonly reached?: ReachLimit;
  readonly passwords?: PasswordOptions;
  readonly failureLimits?: Partial<FailureLimitSettings>;
}

export function identityOn(parts: IdentityParts): Identity {
  const { store, nowMs, report, failureLimits, reached = () => undefined } = parts;
  const passwords = passwordsWith({ reached, ...parts.passwords });
  const audit = auditOn(store, report);
  const tenants = tenantsOn(store);
  const counts = failureCountsFor("sign_in", { store, nowMs });
  const limits = new FailureLimits(counts, failureLimits, () => reached("signInsPerSource"));
  const signIn = signInOn({ store, passwords, limits, audit });
  const secTokens = secTokensOn({ store, signIn, reached });
  return {
    ...tenants,
    ...brandsOn(store),
    ...usersOn({ ...parts, tenants, passwords }),
    ...userReadingOn(store),
    ...secTokens,
    sweep: async () => (await secTokens.sweep()) + (await audit.sweep()) + (await forgetFailures(store)),
    signIn,
    audit,
  };
}

/** All that was counted, for whatever purpose, and has been quiet for so long that it counts no more. */
function forgetFailures(store: Store<FailureTables>): Promise<number> {
  return store.transaction((tx) => tx.failureCounts.removeQuiet(defaultFailureLimits.forgetAfterMs));
}
