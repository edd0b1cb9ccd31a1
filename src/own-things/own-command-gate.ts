import type { CommitTables } from "../devices/commit.ts";
import type { RequestedCommand } from "../devices/thing-control.ts";
import { addThingReceipts, errorJson, plannedIn, trimThingReceipts } from "../devices/thing-receipts.ts";
import { attributeWrites } from "../home/attribute-writes.ts";
import { type CommandError, isCommandError } from "../home/command-errors.ts";
import { admitCommand } from "../home/command-gate.ts";
import type { NewThingCommand, ThingCommandRow } from "../store/tables/thing-commands.ts";
import { type CommandedThing, ownCommandKey, type StoredOwnPlan } from "./commanded-thing.ts";

/** An own device may change from eco to any other mode in one step. */
const planning = { endsEcoFirst: false };

/**
 * Decides about a command to each of a user's things under the user's lock: it is refused, joined to a running command
 * that asks for the same, or sent. Logging the command is its sending: the company reads it as an event or as a
 * webhook's message. It needs few statements: an alarm may command 1,000 things at once.
 */
export async function admitToOwnThings(
  tx: CommitTables,
  things: readonly CommandedThing[],
  requested: RequestedCommand,
  nowMs: number,
): Promise<readonly ThingCommandRow[]> {
  const [first] = things;
  if (!first) return [];
  const deviceIds = things.map(({ deviceId }) => deviceId);
  const open = Map.groupBy(await tx.thingCommands.openOf(first.userId, deviceIds), ({ deviceId }) => deviceId);
  const decided = things.map((thing) => decide(thing, requested, open.get(thing.deviceId) ?? [], nowMs));
  const added = (
    await addThingReceipts(
      tx,
      decided.flatMap((one) => ("joins" in one ? [] : [one])),
    )
  ).values();
  const rows = decided.map((one) => ("joins" in one ? one.joins : added.next().value!));
  // A command that was sent removes old receipts when it ends.
  for (const row of rows) if (row.state === "rejected") await trimThingReceipts(tx, row, nowMs);
  return rows;
}

/** The receipt to add, or the open command that asks for the same. */
function decide(
  { userId, deviceId, thingId, lastTimeMs, map, traits }: CommandedThing,
  { command, clientId, alertId }: RequestedCommand,
  open: readonly ThingCommandRow[],
  nowMs: number,
): NewThingCommand | { readonly joins: ThingCommandRow } {
  const origin = { clientId, alertId: alertId ?? null, requestedMs: nowMs };
  const row = { userId, deviceId, thingId, key: ownCommandKey, command: JSON.stringify(command), ...origin };
  const refused = (refusal: CommandError): NewThingCommand => {
    return { ...row, plan: null, state: "rejected", error: errorJson(refusal), settledMs: nowMs };
  };
  const admission = admitCommand({ traits, isOnline: null }, open.map(plannedIn), command, planning);
  if (isCommandError(admission)) return refused(admission);
  if (admission.relation === "joins") return { joins: open[admission.index]! };
  // Every open command has been sent, so none can be superseded.
  const plannedWrites = attributeWrites(map, admission.plan, nowMs);
  if (isCommandError(plannedWrites)) return refused(plannedWrites);
  const writes = Object.fromEntries(plannedWrites.writes.map(({ attribute, value }) => [attribute, value]));
  const plan: StoredOwnPlan = { ...admission.plan, expected: plannedWrites.expected, writes };
  return {
    ...row,
    plan: JSON.stringify(plan),
    state: "sending",
    step: plan.steps.length,
    // By the times of the device's writes, which tell an answer from an earlier report.
    sentMs: Math.max(nowMs, lastTimeMs),
    dueMs: nowMs + map.commandSeconds * 1_000,
    error: null,
    settledMs: null,
  };
}
