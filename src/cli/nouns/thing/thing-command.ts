import type { Breezeway, CommandReceipt } from "../../../../sdk/src/index.ts";
import { BadParameter } from "../../../model/errors.ts";
import type { Argument, OwnCommand } from "../../command.ts";
import { dateAndTime } from "../../devices/times.ts";
import { exitCodes } from "../../exit-codes.ts";
import { number, optional, text, texts } from "../../input.ts";
import { serviceOf, withOwnerOptions } from "../../remote/chosen-service.ts";
import { ServiceRefused } from "../../remote/service-errors.ts";
import { rows } from "../../terminal/output.ts";
import { commandInWords, outcomeInWords, receiptTable } from "../../things/receipt-view.ts";

export const thingArgument: Argument = {
  name: "thing",
  isRequired: true,
  meaning: "the thing's id; see: breezeway thing list",
};

/** The SDK's `command` for words that are known only when the command runs. The service checks them. */
type AnyCommand = (
  thingId: string,
  trait: string,
  command: string,
  params: Params,
  options: { readonly waitMs: number },
) => Promise<CommandReceipt>;
type Params = Readonly<Record<string, string | number | boolean>>;

export const command: OwnCommand = {
  name: "thing command",
  meaning: "send a command to a thing, and report the outcome",
  examples: [
    "thing command t_… thermostat setTarget celsius=20.5",
    "thing command t_… thermostat setMode mode=heat",
    "thing command t_… fanTimer start minutes=30 --wait 60",
  ],
  arguments: [
    thingArgument,
    { name: "trait", isRequired: true, meaning: "a trait of the thing; see: breezeway thing get" },
    {
      name: "command",
      isRequired: true,
      meaning: "a command of the trait, such as setMode; the page /docs of the service lists all",
    },
    {
      name: "name=value",
      isList: true,
      meaning: 'the parameters; true, false and numbers are sent as such, all else and "…" in quotes as text',
    },
  ],
  options: (described) =>
    withOwnerOptions(described).option(
      "--wait <seconds>",
      "how many seconds to wait for the outcome; 0 only stores the command",
      "40",
    ),
  async run(call) {
    const { typed, print } = call;
    const thingId = text(typed, "thing");
    const words = [text(typed, "trait"), text(typed, "command")] as const;
    const params = Object.fromEntries(texts(typed, "name=value").map(readParameter));
    const waitMs = number(typed, "wait", 0, 600) * 1_000;
    const api = await serviceOf(call);
    const sending = api.write((sdk: Breezeway) => {
      return (sdk.command as AnyCommand).call(sdk, thingId, ...words, params, { waitMs });
    });
    const receipt = await print.during("waiting for the outcome", sending).catch(explained(thingId));
    print.data(receipt, outcomeInWords);
    return isSuccess(receipt, waitMs) ? exitCodes.ok : exitCodes.failed;
  },
};

export const receipts: OwnCommand = {
  name: "thing receipts",
  alias: "receipt",
  meaning: "list what became of the last 100 commands of a thing, newest first, or show one of them",
  examples: ["thing receipts t_…", "thing receipts t_… c12", "thing receipts t_… --json"],
  arguments: [thingArgument, { name: "command", meaning: "the id of one command" }],
  options: withOwnerOptions,
  async run(call) {
    const { typed, print } = call;
    const [thingId, commandId] = [text(typed, "thing"), optional(typed, "command")];
    const api = await serviceOf(call);
    if (commandId !== undefined) {
      const reading = api.read((sdk) => sdk.commandReceipt(thingId, commandId));
      print.data(
        await print.during("reading the receipt", reading).catch(explained(thingId, commandId)),
        receiptInWords,
      );
      return;
    }
    const reading = api.read((sdk) => sdk.commands(thingId));
    const commands = await print.during("reading the receipts", reading).catch(explained(thingId));
    print.data({ thingId, commands }, () => {
      if (commands.length === 0) return "No command was sent to this thing. See: breezeway thing command --help";
      return receiptTable(commands, print.width);
    });
  },
};

/** A number, true or false becomes a value of that type, because the service accepts no other form. */
export function readParameter(word: string): readonly [name: string, value: string | number | boolean] {
  const at = word.indexOf("=");
  if (at < 1) throw new BadParameter("name=value", `"${word}" should be name=value, as in celsius=20.5.`);
  const [name, value] = [word.slice(0, at), word.slice(at + 1)];
  if (value === "true" || value === "false") return [name, value === "true"];
  if (/^[+-]?\d+(\.\d+)?$/.test(value)) return [name, Number(value)];
  return [name, /^"(.*)"$/s.exec(value)?.[1] ?? value];
}

/** With `--wait 0` a stored command is all that was asked for. */
function isSuccess({ state }: CommandReceipt, waitMs: number): boolean {
  if (state === "queued" || state === "sending") return waitMs === 0;
  return state === "confirmed" || state === "accepted";
}

function receiptInWords(receipt: CommandReceipt): string {
  return rows([
    ["command", receipt.commandId],
    ["thing", receipt.thingId],
    ["what", commandInWords(receipt)],
    ["state", receipt.state],
    ["why", receipt.error?.text ?? "-"],
    ["requested", dateAndTime(receipt.requestedTime)],
    ["sent", dateAndTime(receipt.sentTime)],
    ["settled", dateAndTime(receipt.settledTime)],
    ...(receipt.cause ? [["sent by", `alert ${receipt.cause.alert}`] as const] : []),
  ]);
}

/** Names what was typed, and says where the right words are. */
export function explained(thingId: string, commandId?: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ServiceRefused)) throw error;
    const sentences: Readonly<Record<string, string>> = {
      unknown_thing: `There is no thing ${thingId}. See all with: breezeway thing list`,
      unknown_command: `Thing ${thingId} has no command ${commandId}. See all with: breezeway thing receipts ${thingId}`,
      insufficient_scope: `${error.message} A user's token without scopes only starts and stops fans. Ask for scope=devices:control when the user signs in, or use the credentials of an enterprise client: breezeway profile add --help`,
    };
    throw new ServiceRefused(error.status, error.code, sentences[error.code] ?? error.message);
  };
}
