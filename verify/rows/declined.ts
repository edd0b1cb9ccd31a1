import { visit } from "../client/authorization.ts";
import { claim } from "../outcome.ts";
import type { Row } from "../row.ts";

export const declined: Row = {
  name: "declined",
  group: "Linking a user",
  title: "Declining is told",
  proves: "A user who declines comes back with access_denied and the state, and without a code.",
  isEssential: true,
  needs: ["password"],
  after: ["state"],
  async run(context) {
    const { address, state } = await visit(context, "decline");
    const { searchParams: came } = address;
    claim(came.get("error") === "access_denied" && came.get("state") === state && !came.has("code"), () => ({
      seen: `After declining, the redirect says error ${came.get("error") ?? "nothing"}${came.has("code") ? ", and has a code" : ""}.`,
      side: "service",
      next: "Compare the running version with the one you meant to deploy.",
    }));
    return { seen: "Came back with access_denied and the state." };
  },
};
