import { type CommandReceipt, receiptOfCommand } from "../../devices/command-receipts.ts";
import type { CommandRow } from "../../store/tables/commands.ts";
import { fanAsCommand } from "./fan-as-command.ts";
import type { GateReceipt } from "./thing-gate.ts";

export function receiptOf(receipt: GateReceipt, thingId: string): CommandReceipt {
  return "command" in receipt ? receiptOfCommand(receipt.command) : receiptOfFan(receipt.fanRequest, thingId);
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
