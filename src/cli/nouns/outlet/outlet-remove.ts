import { OutcomeUnknown } from "../../../model/errors.ts";
import type { AdminCommand } from "../../administration/admin-command.ts";
import { counted } from "../../terminal/output.ts";
import { chosenOutlet, outletArgument } from "./outlet-argument.ts";

export const removeOutlet: AdminCommand = {
  name: "outlet remove",
  meaning: "remove an outlet and its client; its users' links end at once",
  examples: ["outlet remove bwo_…"],
  arguments: [outletArgument],
  options: (command) => command.option("--outlet <id>", "the same, as an option"),
  async act({ assistants, recordUnfinished }, input) {
    const outlet = await chosenOutlet(assistants, input);
    const { id: outletId, kind, tenantId, clientId } = outlet;
    try {
      const grants = await assistants.outlets.remove(outlet);
      return {
        answer: { outlet: outletId, kind, grants },
        changed: { tenantId, clientId, detail: { outlet: outletId, kind, grants } },
      };
    } catch (error) {
      // The client is suspended or removed, and some of its grants may have ended.
      if (error instanceof OutcomeUnknown) {
        await recordUnfinished({ tenantId, clientId, detail: { outlet: outletId, kind } });
      }
      throw error;
    }
  },
  toText: ({ outlet, grants }) => `Removed outlet ${outlet}. ${counted(grants, "grant")} of its client ended.`,
};
