import { summaryOf } from "../client/answer-summary.ts";
import { exchange, isDead, visit } from "../client/authorization.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

export const pkce: Row = {
  name: "pkce",
  group: "Linking a user",
  title: "A stolen code is worth nothing",
  proves: "A code with another PKCE verifier gives no tokens.",
  isEssential: true,
  needs: ["password"],
  after: ["exchange", "errors"],
  async run(context) {
    const returned = await visit(context);
    const stolen = await exchange(context, returned, "a-verifier-that-somebody-has-made-up-in-a-hurry-01");
    claim(isDead(stolen), () => ({
      seen: `A wrong code_verifier was answered with ${summaryOf(stolen)}, not 400 invalid_grant.`,
      side: "service",
      next: "Look whether code_challenge reaches the service: something between may cut the authorization address.",
    }));
    return { seen: "A wrong verifier was refused with invalid_grant." };
  },
};
