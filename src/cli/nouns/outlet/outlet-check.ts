import type { CheckedFact } from "../../../assistants/assistant.ts";
import type { AdminCommand } from "../../administration/admin-command.ts";
import { exitCodes } from "../../exit-codes.ts";
import { rows } from "../../terminal/output.ts";
import { chosenOutlet, outletArgument } from "./outlet-argument.ts";

export const checkOutlet: AdminCommand = {
  name: "outlet check",
  meaning: "prove an outlet's settings against its maker's service; exits with 1 when one is wrong",
  examples: ["outlet check bwo_…"],
  arguments: [outletArgument],
  options: (command) => command.option("--outlet <id>", "the same, as an option"),
  async act({ assistants }, input) {
    const outlet = await chosenOutlet(assistants, input);
    const facts = await assistants.outlets.check(outlet);
    return { answer: { outlet: outlet.id, isRight: facts.every(({ isRight }) => isRight), facts } };
  },
  exitCode: ({ isRight }) => (isRight ? exitCodes.ok : exitCodes.failed),
  toText({ facts }, _typed, width) {
    return rows(
      (facts as CheckedFact[]).map(({ fact, isRight, text }) => [`${isRight ? "ok   " : "wrong"} ${fact}`, text]),
      width,
    );
  },
};
