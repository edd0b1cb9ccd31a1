import { summaryOf } from "../client/answer-summary.ts";
import { refresh as askFor, statusWith, tokensIn } from "../client/authorization.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

export const refresh: Row = {
  name: "refresh",
  group: "Linking a user",
  title: "Refreshing gives a new pair",
  proves: "A refresh token gives another access token and its own successor, and the new pair works.",
  isEssential: true,
  needs: [],
  after: ["exchange"],
  async run(context) {
    const { refreshToken, accessToken } = context.found.tokens!;
    const answer = await askFor(context, refreshToken);
    claim(answer.status === 200, () => ({
      seen: `The refresh was answered with ${summaryOf(answer)}, not 200.`,
      side: "service",
      next: "Look for the answer's request id in the service's log.",
    }));
    const next = tokensIn(answer);
    claim(next.accessToken !== "" && next.accessToken !== accessToken, () => ({
      seen: "The refresh gave no new access token.",
      side: "between",
      next: "Let nothing cache or repeat POST /oauth2/access_token.",
    }));
    claim(next.refreshToken !== "" && next.refreshToken !== refreshToken, () => ({
      seen: `The refresh gave ${next.refreshToken === "" ? "no refresh token" : "the same refresh token again"}: it does not rotate.`,
      side: "between",
      next: "Ask the service itself; a token that never changes hands could be copied without anybody noticing.",
    }));
    const status = await statusWith(context, next.accessToken);
    claim(status === 200, () => ({
      seen: `The new access token was answered with ${status}, not 200.`,
      side: "service",
      next: "On several nodes: look whether all of them reach the same store.",
    }));
    return { seen: "A new pair, and it works." };
  },
};
