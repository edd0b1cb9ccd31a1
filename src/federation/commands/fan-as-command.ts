import type { CommandReceipt } from "../../devices/command-receipts.ts";
import { type Command, exactly, type PlannedCommand } from "../../home/command-plan.ts";
import type { FanRequestRow } from "../../store/tables/fan-requests.ts";

/** A fan request in the form of a command to the thermostat's thing. */
function fanAsCommand({ value }: Pick<FanRequestRow, "value">): Command {
  return { trait: "fanTimer", command: value === "true" ? "start" : "stop", params: {} };
}

/** It counts as sent: it can't be taken back, because its client waits for the outcome in `requestWrite`. */
export function plannedFan(row: Pick<FanRequestRow, "value">): PlannedCommand {
  const [command, active] = [fanAsCommand(row), row.value === "true"];
  const steps = [{ trait: "fanTimer", set: { active } }] as const;
  return {
    command,
    plan: { steps, expected: [exactly("fanTimer", "active", active)], absolute: command },
    isSent: true,
  };
}

/** The receipt of a fan request, in the form of a receipt of a command to the thermostat's thing. */
export function receiptOfFan(row: FanRequestRow, thingId: string): CommandReceipt {
  const { state, text, requestedMs, sentMs, settledMs } = row;
  const code = state === "expired" ? "noAnswer" : "refused";
  // A request that is being sent may have the text already, from a node that stopped before it could settle it.
  const error = text === null || settledMs === null ? null : { code, text };
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
