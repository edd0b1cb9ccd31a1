import { summaryOf } from "../client/answer-summary.ts";
import { refresh, statusWith, tokensIn } from "../client/authorization.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

export const refreshRetry: Row = {
  name: "refresh-retry",
  group: "Linking a user",
  title: "A lost answer costs no link",
  proves: "A client that never saw the answer to its refresh asks again with the old token and goes on.",
  isEssential: true,
  needs: [],
  after: ["refresh"],
  async run(context) {
    const again = await refresh(context, context.found.tokens!.refreshToken);
    claim(again.status === 200, () => ({
      seen: `The same refresh token, asked with again, was answered with ${summaryOf(again)}, not 200.`,
      side: "service",
      next: "Voice assistants retry: with this their users would have to link anew. Compare the running version.",
    }));
    const status = await statusWith(context, tokensIn(again).accessToken);
    claim(status === 200, () => ({
      seen: `The retried pair's access token was answered with ${status}, not 200.`,
      side: "service",
      next: "On several nodes: look whether all of them reach the same store.",
    }));
    return { seen: "The old refresh token gave another working pair." };
  },
};
