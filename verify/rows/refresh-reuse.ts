import { isDead, newGrant, refresh, statusWith, tokensIn } from "../authorization.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";
import { told } from "../told.ts";

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
  async run(verification) {
    const first = await newGrant(verification);
    const second = tokensIn(await refresh(verification, first.refreshToken));
    const third = tokensIn(await refresh(verification, second.refreshToken));
    await verification.pause(graceMs + 1_500);
    const reused = await refresh(verification, first.refreshToken);
    claim(isDead(reused), () => ({
      seen: `A retired refresh token was answered with ${told(reused)}, not 400 invalid_grant.`,
      side: "service",
      next: "Look whether the nodes' clocks agree; else compare the running version with the one you meant to deploy.",
    }));
    const status = await statusWith(verification, third.accessToken);
    claim(status === 401, () => ({
      seen: `After a retired refresh token came back, the grant's newest access token was answered with ${status}, not 401.`,
      side: "service",
      next: "Somebody with a copy could go on. Compare the running version with the one you meant to deploy.",
    }));
    return { seen: "The retired token was refused, and the grant has ended." };
  },
};
