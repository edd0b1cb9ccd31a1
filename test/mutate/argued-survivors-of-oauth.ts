import { type Argued, arguedIn as of } from "./argued.ts";

/** Mutants of `src/oauth` that no test can kill, or need not. */
export const arguedOfOAuth: readonly Argued[] = [
  ...of("src/oauth/authorize/client-redirect.ts", "clientRedirectUrl", [
    ["??", 'value ?? ""', "value", "equivalent: undefined values were left out; the fallback is for the compiler"],
  ]),
  ...of("src/oauth/authorize/request.ts", "readOrThrowUnsafe", [
    ["condition", "error instanceof BadParameter", "true", "equivalent: reading a parameter throws nothing else"],
  ]),
  ...of("src/oauth/authorize/decision-step.ts", "storeDecision", [
    [
      "return",
      '{ page: "expired" }',
      "undefined",
      "no command takes an administrator's rights away; the check is for one that might",
    ],
    ["text", '"expired"', '""', "no command takes an administrator's rights away; the check is for one that might"],
    ["?.", "brand?.termsMs", "brand.termsMs", "equivalent: a client has a tenant; the fallback is for the compiler"],
    ["boolean", "true", "false", "equivalent: the caller only looks whether the member exists"],
  ]),
  ...of("src/oauth/authorize/terms-step.ts", "answer", [
    ["condition", "terms", "true", "equivalent: the grants are only read for their terms; the check saves a read"],
  ]),
  ...of("src/oauth/client-cache.ts", "ClientCache.forget", [
    ["++", "this.#invalidations++", "this.#invalidations--", "equivalent: the count only has to change"],
  ]),
  ...of("src/oauth/token-audit.ts", "windowOf", [
    ["boolean", "false", "true", "equivalent: the first of a window always gets its entry, and then none is owed"],
  ]),
  ...of("src/oauth/token-verification.ts", "TokenVerifier.#lookUp", [
    [
      ">=",
      "ageMs(this.#runtime, readAt) >= revocationPolling.trustedMs",
      "ageMs(this.#runtime, readAt) > revocationPolling.trustedMs",
      "a bound for measured times, which may be wrong by more than the difference",
    ],
  ]),
  ...of("src/oauth/token-verification.ts", "meantBy", [
    ["??", "userId ?? []", "userId", "equivalent: no grant has the user undefined"],
  ]),
  ...of("src/oauth/token-verification.ts", "TokenVerifier.#hear", [
    ["??", "grant ?? []", "grant", "equivalent: no grant has the id undefined"],
  ]),
  ...of("src/oauth/token-verification.ts", "TokenVerifier.#forgetAll", [
    [
      "++",
      "this.#invalidations++",
      "this.#invalidations--",
      "the count only has to change; another revocation during the same read would be needed to tell",
    ],
    ["statement", "this.#ofGrant.clear();", "", "small entries stay in memory; no answer depends on them"],
  ]),
  ...of("src/oauth/tokens.ts", "refresh", [
    [
      "condition",
      "token.isUsed",
      "true",
      "equivalent: a token that was never used has no successors; the check saves a read",
    ],
  ]),
];
