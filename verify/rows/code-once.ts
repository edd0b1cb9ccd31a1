import { summaryOf } from "../client/answer-summary.ts";
import { exchangeCode, isInvalidGrant, statusWith, tokensIn, visit } from "../client/authorization.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const codeOnce: Row = {
  name: "code-once",
  group: "Linking a user",
  title: "A code works once",
  proves: "A second exchange of a code is refused, and ends the tokens of the first.",
  isEssential: true,
  needs: ["password"],
  after: ["exchange", "errors"],
  async run(context) {
    const returned = await visit(context);
    const first = await exchangeCode(context, returned);
    const second = await exchangeCode(context, returned);
    ensure(first.status === 200 && isInvalidGrant(second), () => ({
      seen: `The exchanges of one code were answered with ${summaryOf(first)} and ${summaryOf(second)}, not 200 and 400 invalid_grant.`,
      side: "between",
      next: "No proxy may cache or repeat POST /oauth2/access_token; if the service itself does this, codes can be replayed.",
    }));
    const status = await statusWith(context, tokensIn(first).accessToken);
    ensure(status === 401, () => ({
      seen: `After the code was used twice, its access token was answered with ${status}, not 401.`,
      side: "service",
      next: "Call the service directly; remove a cache that answers for ended tokens.",
    }));
    return { seen: "The second exchange was refused, and the tokens of the first have ended." };
  },
};
