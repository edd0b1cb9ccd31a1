import type { UserId } from "../../../model/ids.ts";
import type { AdminCommand } from "../../administration/admin-command.ts";
import { id } from "../../input.ts";
import { table } from "../../terminal/output.ts";
import { chosenOutlet, chosenUser, outletArgument } from "./outlet-argument.ts";

const withUserOption: AdminCommand["options"] = (command) =>
  command.option("--outlet <id>", "the same, as an option").option("--user <id>", "of one user only");

export const outletDeliveries: AdminCommand = {
  name: "outlet deliveries",
  meaning: "list the newest reports to an assistant and what became of them",
  examples: ["outlet deliveries bwo_…", "outlet deliveries bwo_… --user 7"],
  arguments: [outletArgument],
  options: withUserOption,
  async act({ assistants }, input) {
    const outlet = await chosenOutlet(assistants, input);
    const found = await assistants.deliveries(outlet.id, chosenUser(input));
    return {
      answer: {
        deliveries: found.map(({ userId, type, thingIds, things, outcome, status, text, createdMs }) => ({
          userId,
          time: new Date(createdMs).toISOString(),
          type,
          things,
          thingIds,
          outcome,
          status,
          text,
        })),
      },
    };
  },
  toText({ deliveries }, _typed, width) {
    if (deliveries.length === 0) return "Nothing was reported in the last week.";
    return table(
      ["TIME", "USER", "MESSAGE", "THINGS", "OUTCOME", "ANSWER"],
      (deliveries as ShownDelivery[]).map(({ time, userId, type, things, outcome, status, text }) => [
        time,
        String(userId),
        type,
        String(things),
        outcome,
        text ?? String(status ?? "-"),
      ]),
      width,
    );
  },
};

interface ShownDelivery {
  readonly time: string;
  readonly userId: number;
  readonly type: string;
  readonly things: number;
  readonly outcome: string;
  readonly status: number | null;
  readonly text: string | null;
}

export const resendToOutlet: AdminCommand = {
  name: "outlet resend",
  meaning: "report all things of a user to an assistant again",
  examples: ["outlet resend bwo_… --user 7"],
  arguments: [outletArgument],
  options: (command) =>
    command.option("--outlet <id>", "the same, as an option").requiredOption("--user <id>", "the user"),
  async act({ assistants }, input) {
    const outlet = await chosenOutlet(assistants, input);
    const userId = id<UserId>(input, "user");
    const isLinked = await assistants.grants.reportAll(outlet.id, userId);
    const { tenantId, clientId } = outlet;
    const answer = { outlet: outlet.id, userId, isLinked };
    return { answer, changed: { tenantId, userId, clientId, detail: { outlet: outlet.id, linked: isLinked } } };
  },
  toText: ({ userId, isLinked }) =>
    isLinked ? `All things of user ${userId} are reported again.` : `User ${userId} has not linked this outlet.`,
};
