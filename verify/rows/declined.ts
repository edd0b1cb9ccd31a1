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
    const [error, returnedState] = [query.get("error"), query.get("state")];
    ensure(error === "access_denied" && returnedState === state && !query.has("code"), () => {
      const found = [
        error === null ? "no error" : `error ${error}`,
        ...(returnedState === state ? [] : [returnedState === null ? "no state" : "another state"]),
        ...(query.has("code") ? ["a code"] : []),
      ];
      return {
        seen: `After declining, the redirect has ${found.join(", ")}.`,
        side: "service",
        next: "Compare the running version with the one you meant to deploy.",
      };
    });
    return { seen: "Returned with access_denied and the state." };
  },
};
