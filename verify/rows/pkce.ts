import { summaryOf } from "../client/answer-summary.ts";
import { exchangeCode, isInvalidGrant, visit } from "../client/authorization.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const pkce: Row = {
  name: "pkce",
  group: "Linking a user",
  title: "A stolen code is useless",
  proves: "A code with another PKCE verifier gives no tokens.",
  isEssential: true,
  needs: ["password"],
  after: ["exchange", "errors"],
  async run(context) {
    const returned = await visit(context);
    const stolen = await exchangeCode(context, returned, "a-verifier-that-somebody-has-made-up-in-a-hurry-01");
    ensure(isInvalidGrant(stolen), () => ({
      seen: `A wrong code_verifier was answered with ${summaryOf(stolen)}, not 400 invalid_grant.`,
      side: "service",
      next: "Check whether code_challenge reaches the service: a proxy may cut the query of the authorization address.",
    }));
    return { seen: "A wrong verifier was refused with invalid_grant." };
  },
};
