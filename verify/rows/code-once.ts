import { summaryOf } from "../client/answer-summary.ts";
import { exchange, isDead, statusWith, tokensIn, visit } from "../client/authorization.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

export const codeOnce: Row = {
  name: "code-once",
  group: "Linking a user",
  title: "A code works once",
  proves: "A second exchange of a code is refused, and ends what the first one gave.",
  isEssential: true,
  needs: ["password"],
  after: ["exchange", "errors"],
  async run(context) {
    const returned = await visit(context);
    const first = await exchange(context, returned);
    const second = await exchange(context, returned);
    claim(first.status === 200 && isDead(second), () => ({
      seen: `The exchanges of one code were answered with ${summaryOf(first)} and ${summaryOf(second)}, not 200 and 400 invalid_grant.`,
      side: "between",
      next: "Let nothing cache or repeat POST /oauth2/access_token; if the service itself does this, codes can be replayed.",
    }));
    const status = await statusWith(context, tokensIn(first).accessToken);
    claim(status === 401, () => ({
      seen: `After the code was used twice, its access token was answered with ${status}, not 401.`,
      side: "service",
      next: "Ask the service itself; a cache that answers for dead tokens must go.",
    }));
    return { seen: "The second exchange was refused, and the tokens of the first have ended." };
  },
};
