import { BadParameter } from "../../../model/errors.ts";
import type { UserId } from "../../../model/ids.ts";
import type { AdminCommand } from "../../administration/admin-command.ts";
import { readFileText } from "../../file-argument.ts";
import { id, text } from "../../input.ts";
import { chosenOutlet, outletArgument } from "./outlet-argument.ts";

const messageBytes = 65_536;

export const tryOutlet: AdminCommand = {
  name: "outlet try",
  meaning:
    "answer a message as if a user's assistant had sent it, with the rights that the user gave it; commands are run",
  examples: ["outlet try bwo_… --user 3 --message directive.json"],
  arguments: [outletArgument],
  options: (command) =>
    command
      .option("--outlet <id>", "the same, as an option")
      .requiredOption("--user <id>", "the user, who has linked the assistant")
      .requiredOption("--message <file>", "the message of the assistant, as JSON"),
  extraInput: (typed) => ({ message: readFileText("message", text(typed, "message")) }),
  async act({ identity, assistants, tryDirective }, input) {
    const outlet = await chosenOutlet(assistants, input);
    const { userId, tenantId } = await identity.findUser(id<UserId>(input, "user"));
    const message = messageIn(text(input, "message"));
    const answer = await tryDirective(outlet, userId, message);
    const changed = { tenantId, userId, clientId: outlet.clientId, detail: { outlet: outlet.id } };
    return { answer: { outlet: outlet.id, userId, message, answer }, changed };
  },
  toText: ({ answer }) => JSON.stringify(answer, null, 2),
};

function messageIn(sent: string): object {
  if (Buffer.byteLength(sent) > messageBytes) {
    throw new BadParameter("message", `The message must have at most ${messageBytes} bytes.`);
  }
  let message: unknown;
  try {
    message = JSON.parse(sent);
  } catch {
    throw new BadParameter("message", "The message must be JSON.");
  }
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    throw new BadParameter("message", "The message must be a JSON object.");
  }
  return message;
}
