import { summaryOf } from "../client/answer-summary.ts";
import { isInvalidGrant, newGrant, refreshTokens, statusWith, tokensIn } from "../client/authorization.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

/** How long a refresh token stays valid after its successor was used. */
const graceMs = 60_000;
const marginMs = 1_500;

export const refreshReuse: Row = {
  name: "refresh-reuse",
  group: "Linking a user",
  title: "Reuse of a refresh token is detected",
  proves: "A minute after its successor was used, the old refresh token is refused and ends the whole grant.",
  isEssential: true,
  needs: ["password", "patience"],
  after: ["refresh-retry", "errors"],
  async run(context) {
    const first = await newGrant(context);
    const second = tokensIn(await refreshTokens(context, first.refreshToken));
    const third = tokensIn(await refreshTokens(context, second.refreshToken));
    await context.pause(graceMs + marginMs);
    const reused = await refreshTokens(context, first.refreshToken);
    ensure(isInvalidGrant(reused), () => ({
      seen: `A retired refresh token was answered with ${summaryOf(reused)}, not 400 invalid_grant.`,
      side: "service",
      next: "Check whether the nodes' clocks agree; else compare the running version with the one you meant to deploy.",
    }));
    const status = await statusWith(context, third.accessToken);
    ensure(status === 401, () => ({
      seen: `After a retired refresh token was used, the grant's newest access token was answered with ${status}, not 401.`,
      side: "service",
      next: "Do not use this version: the holder of a copied token keeps access. Compare the running version with the one you meant to deploy.",
    }));
    return { seen: "The retired token was refused, and the grant has ended." };
  },
};
