import type { CommandReceipt } from "../../federation/commands/command-receipt.ts";
import type { Federation } from "../../federation/federation.ts";
import { type TraitName, traits } from "../../home/catalogue.ts";
import { readCommand } from "../../home/command.ts";
import { type CommandError, commandErrorText, isCommandError } from "../../home/command-errors.ts";
import type { Command } from "../../home/command-plan.ts";
import { jsonAnswer } from "../../http/answer/answer.ts";
import type { Body } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import type { ScopedPrincipal } from "../../identity/principal.ts";
import { BadParameter } from "../../model/errors.ts";
import { InsufficientScope } from "../../model/scope-errors.ts";
import { type KeyedRouteParts, keyed } from "./idempotent-routes.ts";
import { getThingCommand, listThingCommands, sendThingCommand } from "./thing-command-descriptions.ts";

export interface ThingCommandRouteParts extends KeyedRouteParts {
  readonly federation: Pick<Federation, "control">;
}

const path = "/v3/things/:thingId/commands";
const bodyBytes = 1_024;

/** Commands to things and their receipts (docs/interface.md, Commands). */
export function thingCommandRoutes({ federation, ...keyedParts }: ThingCommandRouteParts): readonly Route[] {
  return [
    keyed(keyedParts, {
      methods: ["POST"],
      path,
      bodyBytes,
      scopes: ["devices:control"],
      description: sendThingCommand,
      async answer(incoming, caller, keep) {
        const command = commandOf(incoming.body);
        requireConsent(caller, command);
        const clientId = await keyedParts.tokens.clientOf(incoming.bearer ?? "");
        const accepted = (receipt: CommandReceipt) => jsonAnswer(202, receiptBody(receipt));
        const { thingId = "" } = incoming.pathParameters;
        return accepted(await federation.control.command(caller, thingId, { command, clientId }, keep(accepted)));
      },
    }),
    {
      methods: ["GET"],
      path,
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: listThingCommands,
      async answer(incoming, caller) {
        const { thingId = "" } = incoming.pathParameters;
        const receipts = await federation.control.receipts(caller, thingId);
        return jsonAnswer(200, { thingId, commands: receipts.map(receiptBody) });
      },
    },
    {
      methods: ["GET"],
      path: `${path}/:commandId`,
      access: "bearer",
      errors: "standard",
      scopes: ["devices:read"],
      description: getThingCommand,
      async answer(incoming, caller) {
        const { thingId = "", commandId = "" } = incoming.pathParameters;
        return jsonAnswer(200, receiptBody(await federation.control.receipt(caller, thingId, commandId)));
      },
    },
  ];
}

const members = ["trait", "command", "params"];

function commandOf(body: Body): Command {
  const value = body.kind === "json" ? body.value : undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new BadParameter("body", "The body must be a JSON object with trait, command and params.");
  }
  const { trait, command, params } = value as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(value)) {
    if (!members.includes(name)) throw new BadParameter("body", "The body must hold only trait, command and params.");
  }
  for (const [name, text] of Object.entries({ trait, command })) {
    if (typeof text !== "string") throw new BadParameter(name, `The member ${name} must be a text.`);
  }
  const read = readCommand(trait as string, command as string, params);
  if (!isCommandError(read)) return read;
  throw new BadParameter(
    read.code === "badValue" ? "params" : "command",
    refusalText(read, trait as string, command as string),
  );
}

/** Names only what the catalogue has: errors of this service never repeat words of the request. */
function refusalText(error: CommandError, trait: string, command: string): string {
  const catalogue = "The trait catalogue lists all commands and their parameters.";
  if (error.code === "notSupported") return `No thing accepts this command: ${error.reason}. ${catalogue}`;
  if (error.code !== "badValue" || error.parameter === "params") return commandErrorText(error);
  const { parameters } = traits[trait as TraitName].commands[command]!;
  if (Object.hasOwn(parameters, error.parameter)) return commandErrorText(error);
  return `A member of params is not a parameter of this command. ${catalogue}`;
}

/**
 * A user who granted access without any scope allowed what clients could do before scopes existed: run fans. Heating
 * and everything else need an explicit consent.
 */
function requireConsent(caller: ScopedPrincipal, { trait }: Command): void {
  if (caller.kind === "user" && caller.scopes === null && trait !== "fanTimer") {
    throw new InsufficientScope(["devices:control"], ["devices:control"]);
  }
}

function receiptBody({ id, thingId, command, state, error, requestedMs, sentMs, settledMs }: CommandReceipt): object {
  return {
    commandId: id,
    thingId,
    trait: command.trait,
    command: command.command,
    params: command.params,
    state,
    error,
    requestedTime: requestedMs,
    sentTime: sentMs,
    settledTime: settledMs,
  };
}
