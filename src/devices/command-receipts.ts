import type { CommandError } from "../home/command-errors.ts";
import type { Command } from "../home/command-plan.ts";
import type { CommandState } from "../home/command-states.ts";
import { parseId, type TriggerId } from "../model/ids.ts";
import type { ThingCommandRow } from "../store/tables/thing-commands.ts";
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
  /** `text` explains the error to people; `words` is what the ecosystem said. */
  readonly error: (CommandError & { readonly text: string; readonly words?: string }) | null;
  readonly requestedMs: number;
  readonly sentMs: number | null;
  readonly settledMs: number | null;
}

export function receiptOfCommand(row: ThingCommandRow): CommandReceipt {
  const { thingId, alertId, state, requestedMs, sentMs, settledMs } = row;
  const error = row.error === null ? null : JSON.parse(row.error);
  const command = commandIn(row);
  return { id: `c${row.id}`, thingId, command, alertId, state, error, requestedMs, sentMs, settledMs };
}

/** The kind and the number in the id of a receipt; undefined for text that is no such id. */
export function receiptNumber(commandId: string): { readonly kind: "c" | "f"; readonly id: number } | undefined {
  const kind = commandId.charAt(0);
  const id = parseId<number>(commandId.slice(1));
  return id !== undefined && (kind === "c" || kind === "f") ? { kind, id } : undefined;
}
