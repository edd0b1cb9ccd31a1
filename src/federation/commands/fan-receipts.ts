import { commandEntry } from "../../devices/log-entries.ts";
import type { CommandState } from "../../home/command-states.ts";
import type { Transaction } from "../../store/seam.ts";
import type { FanRequestChange, FanRequestRow } from "../../store/tables/fan-requests.ts";

export type ReceiptTables = Pick<Transaction, "fanRequests" | "log">;

/** Receipts that are kept for a device. */
export const receiptsKept = 100;

/** Stores a receipt for a request and appends it to the log, in the same transaction. */
export async function addReceipt(
  tx: ReceiptTables,
  command: Omit<FanRequestRow, "id" | "sentMs" | "blockedUntilMs">,
): Promise<void> {
  const id = await tx.fanRequests.add(command);
  await tx.fanRequests.trim(command.userId, command.deviceId, receiptsKept, command.requestedMs);
  await tx.log.append(commandEntry({ ...command, id, sentMs: null, blockedUntilMs: null }, command.requestedMs));
}

/**
 * Changes a receipt if it is in one of the states `from`, and appends the change to the log. Returns whether it
 * changed.
 */
export async function changeReceipt(
  tx: ReceiptTables,
  command: FanRequestRow,
  from: readonly CommandState[],
  change: FanRequestChange,
  nowMs: number,
): Promise<boolean> {
  const isChanged = await tx.fanRequests.change(command, from, change);
  if (isChanged && change.state !== command.state) await tx.log.append(commandEntry({ ...command, ...change }, nowMs));
  return isChanged;
}
