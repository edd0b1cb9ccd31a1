import type { CommandError } from "../home/command-errors.ts";
import type { Command } from "../home/command-plan.ts";
import type { CommandState } from "../home/command-states.ts";
import type { TriggerId } from "../model/ids.ts";
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

/** The number in the id of a receipt; undefined for text that is no such id. `c`: a command. `f`: a fan request. */
export function receiptNumber(commandId: string): { readonly kind: "c" | "f"; readonly id: number } | undefined {
  const [, kind, digits] = /^([cf])([1-9]\d{0,9})$/.exec(commandId) ?? [];
  const id = Number(digits);
  return kind === undefined || id > 2_147_483_647 ? undefined : { kind: kind as "c" | "f", id };
}
