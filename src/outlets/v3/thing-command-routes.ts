import type { CommandReceipt } from "../../devices/command-receipts.ts";
import type { ThingControl } from "../../devices/thing-control.ts";
import { jsonAnswer } from "../../http/answer/answer.ts";
import type { Route } from "../../http/routes.ts";
import type { CallingPrincipal } from "../../identity/principal.ts";
import { commandOf, requireConsent } from "./command-body.ts";
import { type KeyedRouteParts, keyed } from "./idempotent-routes.ts";
import { getThingCommand, listThingCommands, sendThingCommand } from "./thing-command-descriptions.ts";

export interface ThingCommandRouteParts extends KeyedRouteParts {
  readonly control: ThingControl;
  readonly quotas: {
    /** Counts a command; throws QuotaExceeded. */
    admitCommand(caller: CallingPrincipal): void;
  };
}

const path = "/v3/things/:thingId/commands";
const bodyBytes = 1_024;

/** Commands to things and their receipts (docs/interface.md, Commands). */
export function thingCommandRoutes({ control, quotas, ...keyedParts }: ThingCommandRouteParts): readonly Route[] {
  return [
    keyed(keyedParts, {
      methods: ["POST"],
      path,
      bodyBytes,
      scopes: ["devices:control"],
      description: sendThingCommand,
      async answer(incoming, caller, keep) {
        const command = commandOf(incoming.body.kind === "json" ? incoming.body.value : undefined);
        requireConsent(caller, command);
        quotas.admitCommand(caller);
        const clientId = await keyedParts.tokens.clientOf(incoming.bearer ?? "");
        const accepted = (receipt: CommandReceipt) => jsonAnswer(202, receiptBody(receipt));
        const { thingId = "" } = incoming.pathParameters;
        return accepted(await control.command(caller, thingId, { command, clientId }, keep(accepted)));
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
        const receipts = await control.receipts(caller, thingId);
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
        return jsonAnswer(200, receiptBody(await control.receipt(caller, thingId, commandId)));
      },
    },
  ];
}

function receiptBody(receipt: CommandReceipt): object {
  const { id, thingId, command, alertId, state, error, requestedMs, sentMs, settledMs } = receipt;
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
    ...(alertId !== null && { cause: { by: "alert", alert: alertId } }),
  };
}
