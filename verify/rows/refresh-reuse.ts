import { summaryOf } from "../client/answer-summary.ts";
import { isDead, newGrant, refresh, statusWith, tokensIn } from "../client/authorization.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

/** How long the old token goes on once its successor is in use. */
const graceMs = 60_000;

export const refreshReuse: Row = {
  name: "refresh-reuse",
  group: "Linking a user",
  title: "A copied refresh token is caught",
  proves: "A minute after its successor was used, the old refresh token is refused and ends the whole grant.",
  isEssential: true,
  needs: ["password", "patience"],
  after: ["refresh-retry", "errors"],
  async run(context) {
    const first = await newGrant(context);
    const second = tokensIn(await refresh(context, first.refreshToken));
    const third = tokensIn(await refresh(context, second.refreshToken));
    await context.pause(graceMs + 1_500);
    const reused = await refresh(context, first.refreshToken);
    claim(isDead(reused), () => ({
      seen: `A retired refresh token was answered with ${summaryOf(reused)}, not 400 invalid_grant.`,
      side: "service",
      next: "Look whether the nodes' clocks agree; else compare the running version with the one you meant to deploy.",
    }));
    const status = await statusWith(context, third.accessToken);
    claim(status === 401, () => ({
      seen: `After a retired refresh token came back, the grant's newest access token was answered with ${status}, not 401.`,
      side: "service",
      next: "Somebody with a copy could go on. Compare the running version with the one you meant to deploy.",
    }));
    return { seen: "The retired token was refused, and the grant has ended." };
  },
};
