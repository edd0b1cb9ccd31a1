import { commandEntry } from "../../devices/log-entries.ts";
import type { CommandState } from "../../home/command-states.ts";
import type { Transaction } from "../../store/seam.ts";
import type { CommandChange, CommandRow } from "../../store/tables/commands.ts";

export type ReceiptTables = Pick<Transaction, "commands" | "log">;

/** Receipts that are kept for a device. */
export const receiptsKept = 100;

/** Stores a receipt for a request and appends it to the log, in the same transaction. */
export async function addReceipt(
  tx: ReceiptTables,
  command: Omit<CommandRow, "id" | "sentMs" | "blockedUntilMs">,
): Promise<void> {
  const id = await tx.commands.add(command);
  await tx.commands.trim(command.userId, command.deviceId, receiptsKept, command.requestedMs);
  await tx.log.append(commandEntry({ ...command, id, sentMs: null, blockedUntilMs: null }, command.requestedMs));
}

/**
 * Changes a receipt if it is in one of the states `from`, and appends the change to the log. Returns whether it
 * changed.
 */
export async function changeReceipt(
  tx: ReceiptTables,
  command: CommandRow,
  from: readonly CommandState[],
  change: CommandChange,
  nowMs: number,
): Promise<boolean> {
  const isChanged = await tx.commands.change(command, from, change);
  if (isChanged && change.state !== command.state) await tx.log.append(commandEntry({ ...command, ...change }, nowMs));
  return isChanged;
}
