import type { AdminCommand } from "../../administration/admin-command.ts";
import type { Noun } from "../../noun.ts";

const restored: AdminCommand = {
  name: "restored",
  meaning:
    "record that the store was restored with other tools, so that clients read their devices again and no id is issued twice",
  examples: ["restored"],
  async act({ beginEpoch }) {
    const epoch = await beginEpoch();
    return { answer: { epoch }, changed: { detail: { epoch } } };
  },
  toText: ({ epoch }) =>
    `The store begins epoch ${epoch}. Clients that resume a stream get a resync, every webhook is sent one, and waiting fan requests are not sent. Run this once after each restore that Breezeway cannot detect (docs/operations.md).`,
};

export const restoredNoun: Noun = { name: "restored", meaning: restored.meaning, commands: [restored] };
