import { exchange, isDead, statusWith, tokensIn, visit } from "../authorization.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";
import { told } from "../told.ts";

export const codeOnce: Row = {
  name: "code-once",
  group: "Linking a user",
  title: "A code works once",
  proves: "A second exchange of a code is refused, and ends what the first one gave.",
  isEssential: true,
  needs: ["password"],
  after: ["exchange", "errors"],
  async run(verification) {
    const returned = await visit(verification);
    const first = await exchange(verification, returned);
    const second = await exchange(verification, returned);
    claim(first.status === 200 && isDead(second), () => ({
      seen: `The exchanges of one code were answered with ${told(first)} and ${told(second)}, not 200 and 400 invalid_grant.`,
      side: "between",
      next: "Let nothing cache or repeat POST /oauth2/access_token; if the service itself does this, codes can be replayed.",
    }));
    const status = await statusWith(verification, tokensIn(first).accessToken);
    claim(status === 401, () => ({
      seen: `After the code was used twice, its access token was answered with ${status}, not 401.`,
      side: "service",
      next: "Ask the service itself; a cache that answers for dead tokens must go.",
    }));
    return { seen: "The second exchange was refused, and the tokens of the first have ended." };
  },
};
