import { exchange, isDead, visit } from "../authorization.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";
import { told } from "../told.ts";

export const pkce: Row = {
  name: "pkce",
  group: "Linking a user",
  title: "A stolen code is worth nothing",
  proves: "A code with another PKCE verifier gives no tokens.",
  isEssential: true,
  needs: ["password"],
  after: ["exchange", "errors"],
  async run(verification) {
    const returned = await visit(verification);
    const stolen = await exchange(verification, returned, "a-verifier-that-somebody-has-made-up-in-a-hurry-01");
    claim(isDead(stolen), () => ({
      seen: `A wrong code_verifier was answered with ${told(stolen)}, not 400 invalid_grant.`,
      side: "service",
      next: "Look whether code_challenge reaches the service: something between may cut the authorization address.",
    }));
    return { seen: "A wrong verifier was refused with invalid_grant." };
  },
};
