import { visit } from "../client/authorization.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const declined: Row = {
  name: "declined",
  group: "Linking a user",
  title: "Declining is reported",
  proves: "A user who declines returns with access_denied and the state, and without a code.",
  isEssential: true,
  needs: ["password"],
  after: ["state"],
  async run(context) {
    const { address, state } = await visit(context, "decline");
    const { searchParams: query } = address;
    ensure(query.get("error") === "access_denied" && query.get("state") === state && !query.has("code"), () => ({
      seen: `After declining, the redirect says error ${query.get("error") ?? "nothing"}${query.has("code") ? ", and has a code" : ""}.`,
      side: "service",
      next: "Compare the running version with the one you meant to deploy.",
    }));
    return { seen: "Returned with access_denied and the state." };
  },
};
