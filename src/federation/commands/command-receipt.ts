import type { CommandError } from "../../home/command-errors.ts";
import type { Command } from "../../home/command-plan.ts";
import type { CommandState } from "../../home/command-states.ts";
import type { TriggerId } from "../../model/ids.ts";
import type { CommandRow } from "../../store/tables/commands.ts";
import type { ThingCommandRow } from "../../store/tables/thing-commands.ts";
import { fanAsCommand } from "./fan-as-command.ts";
import type { GateReceipt } from "./thing-gate.ts";
import { commandIn } from "./thing-receipts.ts";

/** What became of a command to a thing, or of a fan request to its thermostat. */
export interface CommandReceipt {
  /** Begins with `c` for a command through /v3/things, and with `f` for a fan request. */
  readonly id: string;
  readonly thingId: string;
  readonly command: Command;
  /** The alert that sent the command; null for a command of a client. */
  readonly alertId: TriggerId | null;
  readonly state: CommandState;
  readonly error: (CommandError & { readonly text: string; readonly words?: string }) | null;
  readonly requestedMs: number;
  readonly sentMs: number | null;
  readonly settledMs: number | null;
}

export function receiptOf(receipt: GateReceipt, thingId: string): CommandReceipt {
  return "command" in receipt ? receiptOfCommand(receipt.command) : receiptOfFan(receipt.fanRequest, thingId);
}

export function receiptOfCommand(row: ThingCommandRow): CommandReceipt {
  const { thingId, alertId, state, requestedMs, sentMs, settledMs } = row;
  const error = row.error === null ? null : JSON.parse(row.error);
  const command = commandIn(row);
  return { id: `c${row.id}`, thingId, command, alertId, state, error, requestedMs, sentMs, settledMs };
}

export function receiptOfFan(row: CommandRow, thingId: string): CommandReceipt {
  const { state, text, requestedMs, sentMs, settledMs } = row;
  const code = state === "expired" ? "noAnswer" : "refused";
  const error = text === null ? null : { code, text };
  return {
    id: `f${row.id}`,
    thingId,
    command: fanAsCommand(row),
    alertId: null,
    state,
    error: error as CommandReceipt["error"],
    requestedMs,
    sentMs,
    settledMs,
  };
}
