import { codeOf, visit } from "../client/authorization.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

export const authorize: Row = {
  name: "authorize",
  group: "Linking a user",
  title: "Login, terms, code",
  proves: "A browser gets from the client to the login page, the terms, and back to the redirect address with a code.",
  isEssential: true,
  needs: ["client", "sign-in"],
  after: [],
  async run(context) {
    const { found, input } = context;
    const returned = await visit(context);
    const { address } = returned;
    claim(String(address).startsWith(input.client!.redirectUri), () => ({
      seen: `The browser was sent to ${address.origin}${address.pathname}, not to the client's redirect address.`,
      side: "between",
      next: "Look whether something rewrites the Location header of redirects.",
    }));
    claim(codeOf(returned) !== "", () => ({
      seen: `The browser came back without a code (error ${address.searchParams.get("error") ?? "none"}).`,
      side: "client",
      next: "access_denied: the user declined, or is no administrator while the client is an enterprise client.",
    }));
    found.returned = returned;
    return { seen: "Signed in, accepted, and came back with a code." };
  },
};
