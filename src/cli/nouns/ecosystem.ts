import type { AdminCommand, Answer } from "../administration/admin-command.ts";
import type { Noun } from "../noun.ts";
import { table } from "../terminal/output.ts";

const list: AdminCommand = {
  name: "ecosystem list",
  meaning: "list the ecosystems whose accounts users can link",
  examples: ["ecosystem list"],
  async act({ ecosystems }) {
    return { answer: { ecosystems } };
  },
  toText({ ecosystems }) {
    if (ecosystems.length === 0) return "No ecosystem is configured. See: breezeway config print";
    return table(
      ["ECOSYSTEM", "NAME", "LINK PAGE"],
      (ecosystems as Answer[]).map(({ ecosystem, name, hasLinkPage }) => [ecosystem, name, hasLinkPage ? "yes" : "no"]),
    );
  },
};

export const ecosystem: Noun = {
  name: "ecosystem",
  alias: "ecosystems",
  meaning: "ecosystems of this service",
  commands: [list],
};
