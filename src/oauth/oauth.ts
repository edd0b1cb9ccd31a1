import { type FailureLimitSettings, FailureLimits, failureCountsFor } from "../identity/failure-limits.ts";
import type { Identity } from "../identity/identity.ts";
import type { CallingPrincipal } from "../identity/principal.ts";
import { InvalidToken } from "../model/errors.ts";
import { limits as limitTable, type OnLimitReached } from "../model/limits.ts";
import { ageMs, momentOf } from "../runtime/age.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import { authorizeSteps } from "./authorize/authorize.ts";
import type { Sealer } from "./authorize/login-ticket.ts";
import { clientsOn } from "./clients.ts";
import { commandTokensWith } from "./command-tokens.ts";
import { metadata } from "./metadata.ts";
import type { TokenLife, TokenVerifier } from "./token-verification.ts";
import { type Lifetimes, tokensOn } from "./tokens.ts";

export interface OAuthParts {
  readonly store: Store;
  readonly identity: Pick<Identity, "findTenant" | "signIn" | "brandOf">;
  /** The cache of verified tokens. Code that ends a grant removes it from there. */
  readonly verification: TokenVerifier;
  readonly sealer: Sealer;
  readonly runtime: Runtime;
  /** The issuer identifier: the configured base URL, never taken from a request. */
  readonly issuer: () => string;
  /** Whether no node of the previous version uses this store. */
  readonly areOlderNodesGone: () => boolean;
  readonly lifetimes: Lifetimes;
  readonly failureLimits?: Partial<FailureLimitSettings>;
  /** Called for each refused client authentication, and each removal of tokens, because of a limit. */
  readonly onLimitReached: OnLimitReached;
}

/** Short, since a machine exchanges the code at once. */
const codeSeconds = 60;

/** The OAuth 2.0 authorization server: clients, the authorization flow, tokens, and their verification. */
export function oauthOn(parts: OAuthParts) {
  const { store, identity, verification, sealer, runtime, issuer, lifetimes, failureLimits, onLimitReached } = parts;
  const { areOlderNodesGone } = parts;
  const grantsEnded = (grantIds: readonly string[]) => verification.forget(grantIds);
  // Many concurrent attempts are allowed: a secret of 256 bits can't be guessed, and an assistant refreshes the tokens of
  // all its users from one address.
  const counts = failureCountsFor("client", { store, elapsedMs: runtime.elapsedMs });
  const limits = new FailureLimits(
    counts,
    { ...failureLimits, atOnce: 100, perSource: limitTable.clientAuthenticationsPerSource },
    () => onLimitReached("clientAuthenticationsPerSource"),
  );
  const commandTokens = commandTokensWith(sealer, store);
  const commandAccess = async (accessToken: string) => {
    const access = await commandTokens.open(accessToken);
    if (!access) throw new InvalidToken();
    return access;
  };
  const clients = clientsOn({
    store,
    tenants: identity,
    limits,
    nowMs: runtime.nowMs,
    grantsEnded,
    suspended: (suspended) => verification.suspend(suspended),
  });
  return {
    ...clients,
    authorizeSteps: authorizeSteps({ store, identity, clients, sealer, areOlderNodesGone, issuer, codeSeconds }),
    tokens: tokensOn({ store, lifetimes, elapsedMs: runtime.elapsedMs, grantsEnded, onLimitReached }),
    metadata: () => metadata(issuer()),
    commandTokens,
    verify: (accessToken: string): Promise<CallingPrincipal> =>
      commandTokens.isOne(accessToken)
        ? commandAccess(accessToken).then(({ principal }) => principal)
        : verification.verify(accessToken),
    clientOf: async (accessToken: string) =>
      commandTokens.isOne(accessToken)
        ? (await commandAccess(accessToken)).clientId
        : verification.clientOf(accessToken),
    isExpired: (accessToken: string) => verification.isExpired(accessToken),
    async watch(accessToken: string, revoked: () => void): Promise<TokenLife> {
      if (!commandTokens.isOne(accessToken)) return verification.watch(accessToken, revoked);
      const readAt = momentOf(runtime);
      const { clientId, remainingMs } = await commandAccess(accessToken);
      const hasExpired = () => ageMs(runtime, readAt) >= remainingMs;
      return { hasExpired, clientId, release: () => undefined };
    },
    caughtUp: () => verification.caughtUp(),
    grantsEnded,
    start: () => verification.start(),
    /** Another node may have revoked a token. */
    hinted: () => verification.hinted(),
    stop: () => verification.stop(),
  };
}

export type OAuth = ReturnType<typeof oauthOn>;
