import { summaryOf } from "../client/answer-summary.ts";
import { refreshTokens, statusWith, tokensIn } from "../client/authorization.ts";
import { ensure } from "../outcome.ts";
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
    const { refreshToken, accessToken } = context.shared.tokens!;
    const answer = await refreshTokens(context, refreshToken);
    ensure(answer.status === 200, () => ({
      seen: `The refresh was answered with ${summaryOf(answer)}, not 200.`,
      side: "service",
      next: "Look for the answer's request id in the service's log.",
    }));
    const next = tokensIn(answer);
    ensure(next.accessToken !== "" && next.accessToken !== accessToken, () => ({
      seen: "The refresh gave no new access token.",
      side: "between",
      next: "No proxy may cache or repeat POST /oauth2/access_token.",
    }));
    ensure(next.refreshToken !== "" && next.refreshToken !== refreshToken, () => ({
      seen: `The refresh gave ${next.refreshToken === "" ? "no refresh token" : "the same refresh token again"}: it does not rotate.`,
      side: "between",
      next: "Call the service directly. Without rotation nobody would notice a copied refresh token.",
    }));
    const status = await statusWith(context, next.accessToken);
    ensure(status === 200, () => ({
      seen: `The new access token was answered with ${status}, not 200.`,
      side: "service",
      next: "On several nodes: check whether all of them reach the same store.",
    }));
    return { seen: "The new pair works." };
  },
};
