import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const state: Row = {
  name: "state",
  group: "Linking a user",
  title: "State comes back unchanged",
  proves: "A client can distinguish its own answers from forged ones by state and by issuer (RFC 9207).",
  isEssential: true,
  needs: [],
  after: ["authorize"],
  async run({ shared, deployment }) {
    const { address, state: sent } = shared.returned!;
    const returned = address.searchParams.get("state");
    ensure(returned === sent, () => ({
      seen:
        returned === null
          ? "The redirect to the client has no state."
          : "The redirect has another state than the request.",
      side: "between",
      next: "Pass the whole query of the redirect on. No client may accept an answer without its state: it could be forged.",
    }));
    const issuer = address.searchParams.get("iss");
    if (issuer !== deployment.url) {
      return {
        seen: `state is unchanged, but iss is ${issuer ?? "missing"}, not ${deployment.url}.`,
        next:
          issuer === null
            ? "Strict clients want iss: breezeway client edit --issuer."
            : "Set BREEZEWAY_BASE_URL to the address that clients use: strict clients refuse another iss.",
      };
    }
    return { seen: "state is unchanged, and iss is the deployment." };
  },
};
