import { summaryOf } from "../client/answer-summary.ts";
import { refreshTokens, statusWith, tokensIn } from "../client/authorization.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const refreshRetry: Row = {
  name: "refresh-retry",
  group: "Linking a user",
  title: "A refresh can be retried",
  proves: "A client that lost the answer to its refresh can retry with the old token.",
  isEssential: true,
  needs: [],
  after: ["refresh"],
  async run(context) {
    const again = await refreshTokens(context, context.shared.tokens!.refreshToken);
    ensure(again.status === 200, () => ({
      seen: `The same refresh token, sent again, was answered with ${summaryOf(again)}, not 200.`,
      side: "service",
      next: "Voice assistants retry: their users would have to link again. Compare the running version with the one you meant to deploy.",
    }));
    const status = await statusWith(context, tokensIn(again).accessToken);
    ensure(status === 200, () => ({
      seen: `The retried pair's access token was answered with ${status}, not 200.`,
      side: "service",
      next: "On several nodes: check whether all of them reach the same store.",
    }));
    return { seen: "The old refresh token gave another valid pair." };
  },
};
