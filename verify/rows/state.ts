import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

export const state: Row = {
  name: "state",
  group: "Linking a user",
  title: "State comes back unchanged",
  proves: "A client can tell its own answers from forged ones, by state, and by the issuer's name (RFC 9207).",
  isEssential: true,
  needs: [],
  after: ["authorize"],
  async run({ found, deployment }) {
    const { address, state: sent } = found.returned!;
    const came = address.searchParams.get("state");
    claim(came === sent, () => ({
      seen:
        came === null
          ? "The redirect to the client carries no state."
          : "The redirect carries another state than was sent.",
      side: "between",
      next: "Let the whole query of the redirect through. No client may go on without its state: it could be a forgery.",
    }));
    const issuer = address.searchParams.get("iss");
    if (issuer !== deployment.url) {
      return {
        seen: `State is right, but iss is ${issuer ?? "missing"}, not ${deployment.url}.`,
        next: "Set BREEZEWAY_BASE_URL to the address that clients use: strict clients refuse another iss.",
      };
    }
    return { seen: "State is what was sent, and iss is the deployment." };
  },
};
