import { summaryOf } from "../client/answer-summary.ts";
import { isInvalidGrant, refreshTokens, revokeToken, statusWith } from "../client/authorization.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";
import { wait } from "../row-context.ts";

/** No node may answer 200 later than this. */
const maxMs = 1_000;
const observedMs = 1_400;

export const revoke: Row = {
  name: "revoke",
  group: "Linking a user",
  title: "Revoking ends access within a second",
  proves: "One second after a token was revoked, neither token of the grant gets a 200.",
  isEssential: true,
  needs: [],
  after: ["exchange", "errors"],
  async run(context) {
    const { accessToken, refreshToken } = context.shared.tokens!;
    const before = await statusWith(context, accessToken);
    const answer = await revokeToken(context, refreshToken);
    const startMs = performance.now();
    ensure(before === 200 && answer.status === 200, () => ({
      seen: `The access token was answered with ${before} before, and its revocation with ${summaryOf(answer)}; both should be 200.`,
      side: "service",
      next: "Look for the answer's request id in the service's log.",
    }));
    let last200Ms = -1;
    for (let elapsedMs = 0; elapsedMs < observedMs; elapsedMs = performance.now() - startMs) {
      const sentMs = performance.now() - startMs;
      if ((await statusWith(context, accessToken)) === 200) last200Ms = sentMs;
      await wait(100, context.signal);
    }
    ensure(last200Ms < maxMs, () => ({
      seen: `A revoked access token still got a 200 ${(last200Ms / 1_000).toFixed(1)} seconds after its revocation.`,
      side: "between",
      next: "No proxy may cache answers of /v3: call the service directly, and turn off the cache.",
    }));
    const refused = await refreshTokens(context, refreshToken);
    ensure(isInvalidGrant(refused), () => ({
      seen: `The revoked refresh token was answered with ${summaryOf(refused)}, not 400 invalid_grant.`,
      side: "service",
      next: "Compare the running version with the one you meant to deploy.",
    }));
    return {
      seen:
        last200Ms < 0
          ? "Refused from the first call after the revocation on."
          : `The last 200 came ${Math.round(last200Ms)} ms after the revocation.`,
    };
  },
};
