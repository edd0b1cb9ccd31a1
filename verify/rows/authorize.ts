import { codeOf, visit } from "../client/authorization.ts";
import { ensure } from "../outcome.ts";
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
    const { shared, input } = context;
    const returned = await visit(context);
    const { address } = returned;
    ensure(String(address).startsWith(input.client!.redirectUri), () => ({
      seen: `The browser was sent to ${address.origin}${address.pathname}, not to the client's redirect address.`,
      side: "between",
      next: "Check whether a proxy rewrites the Location header of redirects.",
    }));
    ensure(codeOf(returned) !== "", () => ({
      seen: `The browser returned without a code (error ${address.searchParams.get("error") ?? "none"}).`,
      side: "client",
      next: "access_denied: the user declined, or is no administrator while the client is an enterprise client.",
    }));
    shared.returned = returned;
    return { seen: "Signed in, accepted, and returned with a code." };
  },
};
