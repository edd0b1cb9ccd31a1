import { type CommandError, commandErrorText } from "../home/command-errors.ts";
import type { Command, Plan, PlannedCommand } from "../home/command-plan.ts";
import type { CommandState } from "../home/command-states.ts";
import { storedTraits } from "../home/stored-thing.ts";
import type { Thing } from "../home/thing.ts";
import { decodeDescriptor, decodeState } from "../home/thing-text.ts";
import type { Transaction } from "../store/seam.ts";
import type { NewThingCommand, ThingCommandChange, ThingCommandRow } from "../store/tables/thing-commands.ts";
import type { ThingRow } from "../store/tables/things.ts";
import { thingCommandEntry } from "./log-entries.ts";

export type ThingReceiptTables = Pick<Transaction, "thingCommands" | "log">;

/** Receipts that are kept for the things of a link, besides those of commands that have not ended. */
const thingReceiptsKept = 500;

/** Stores a receipt for a command and appends it to the log, in the same transaction. Removes old receipts. */
export async function addThingReceipt(tx: ThingReceiptTables, command: NewThingCommand): Promise<ThingCommandRow> {
  const id = await tx.thingCommands.add(command);
  const row = storedRow(command, id);
  await trimThingReceipts(tx, row, command.requestedMs);
  await tx.log.append(thingCommandEntry(row, command.requestedMs));
  return row;
}

/**
 * The same for many commands with few statements. It removes no old receipts: its caller does that when a command has
 * ended.
 */
export async function addThingReceipts(
  tx: ThingReceiptTables,
  commands: readonly NewThingCommand[],
): Promise<readonly ThingCommandRow[]> {
  const ids = await tx.thingCommands.addMany(commands);
  const rows = commands.map((command, index) => storedRow(command, ids[index]!));
  for (const row of rows) await tx.log.append(thingCommandEntry(row, row.requestedMs));
  return rows;
}

function storedRow(command: NewThingCommand, id: number): ThingCommandRow {
  return { alertId: null, dueMs: null, step: 0, sentMs: null, ...command, id, blockedUntilMs: null };
}

export async function trimThingReceipts(
  tx: ThingReceiptTables,
  { userId, deviceId }: Pick<ThingCommandRow, "userId" | "deviceId">,
  nowMs: number,
): Promise<void> {
  await tx.thingCommands.trim(userId, deviceId, thingReceiptsKept, nowMs);
}

/**
 * Changes a receipt if it is in one of the states `from`, and appends a new state to the log. Returns the changed
 * receipt.
 */
export async function changeThingReceipt(
  tx: ThingReceiptTables,
  row: ThingCommandRow,
  from: readonly CommandState[],
  change: ThingCommandChange,
  nowMs: number,
): Promise<ThingCommandRow | undefined> {
  if (!(await tx.thingCommands.change(row, from, change))) return undefined;
  const changed = { ...row, ...change };
  if (change.state !== row.state) await tx.log.append(thingCommandEntry(changed, nowMs));
  return changed;
}

/** Why a command ended without being carried out, as its receipt shows it. `words`: what the ecosystem said. */
export function errorJson(error: CommandError, words?: string): string {
  return JSON.stringify({ ...error, text: commandErrorText(error), ...(words !== undefined && { words }) });
}

export function commandIn({ command }: Pick<ThingCommandRow, "command">): Command {
  return JSON.parse(command);
}

/** The plan of a command that was queued. */
export function planIn({ plan }: Pick<ThingCommandRow, "plan">): Plan {
  if (plan === null) throw new TypeError("a command that was refused has no plan");
  return JSON.parse(plan);
}

export function plannedIn(row: ThingCommandRow): PlannedCommand {
  return { command: commandIn(row), plan: planIn(row), isSent: row.state !== "queued" };
}

/** The thing as far as planning and echo need it. Whether the ecosystem reaches it stands in its traits. */
export function thingIn(row: ThingRow): Pick<Thing, "traits" | "isOnline"> {
  return { traits: storedTraits(decodeDescriptor(row), decodeState(row.state)), isOnline: null };
}
