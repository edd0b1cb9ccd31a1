import type { CommitTables } from "../devices/commit.ts";
import type { RequestedCommand } from "../devices/thing-control.ts";
import { addThingReceipt, errorJson, plannedIn } from "../devices/thing-receipts.ts";
import { attributeWrites } from "../home/attribute-writes.ts";
import { type CommandError, isCommandError } from "../home/command-errors.ts";
import { admitCommand } from "../home/command-gate.ts";
import type { ThingCommandRow } from "../store/tables/thing-commands.ts";
import { type CommandedThing, ownCommandKey, type StoredOwnPlan } from "./commanded-thing.ts";

/** An own device may change from eco to any other mode in one step. */
const planning = { endsEcoFirst: false };

/**
 * Decides about a command under the user's lock: it is refused, joined to a running command that asks for the same, or
 * sent. Logging the command is its sending: the company reads it as an event or as a webhook's message.
 */
export async function admitToOwnThing(
  tx: CommitTables,
  thing: CommandedThing,
  { command, clientId, alertId }: RequestedCommand,
  nowMs: number,
): Promise<ThingCommandRow> {
  const { userId, deviceId, thingId, map } = thing;
  const origin = { clientId, alertId: alertId ?? null, requestedMs: nowMs };
  const row = { userId, deviceId, thingId, key: ownCommandKey, command: JSON.stringify(command), ...origin };
  const refuse = (refusal: CommandError) =>
    addThingReceipt(tx, { ...row, plan: null, state: "rejected", error: errorJson(refusal), settledMs: nowMs });

  const open = await tx.thingCommands.open(userId, deviceId, thingId);
  const admission = admitCommand({ traits: thing.traits, isOnline: null }, open.map(plannedIn), command, planning);
  if (isCommandError(admission)) return refuse(admission);
  if (admission.relation === "joins") return open[admission.index]!;
  // Every open command has been sent, so none can be superseded.
  const asked = attributeWrites(map, admission.plan, nowMs);
  if (isCommandError(asked)) return refuse(asked);
  const writes = Object.fromEntries(asked.writes.map(({ attribute, value }) => [attribute, value]));
  const plan: StoredOwnPlan = { ...admission.plan, expected: asked.expected, writes };
  return addThingReceipt(tx, {
    ...row,
    plan: JSON.stringify(plan),
    state: "sending",
    step: plan.steps.length,
    sentMs: nowMs,
    dueMs: nowMs + map.commandSeconds * 1_000,
    error: null,
    settledMs: null,
  });
}
