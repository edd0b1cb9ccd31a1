import type { CommitTables } from "../../devices/commit.ts";
import { changeThingReceipt, errorJson, planIn, plannedIn, thingIn } from "../../devices/thing-receipts.ts";
import type { Connector } from "../../ecosystems/connector.ts";
import { planCommand } from "../../home/command.ts";
import { type CommandError, isCommandError } from "../../home/command-errors.ts";
import type { Plan } from "../../home/command-plan.ts";
import { thermostatIn } from "../../home/reported-things.ts";
import type { ThingCommandRow } from "../../store/tables/thing-commands.ts";
import type { CommandKind } from "./command-kind.ts";
import { recordAnswer, recordCaused, recordOverdue } from "./thing-outcome.ts";

/** Commands to things: those of one thing are sent one after the other, each in one or two steps. */
export function thingCommands(connectors: ReadonlyMap<string, Connector>): CommandKind<ThingCommandRow> {
  return {
    task: "commands",
    words: { one: "a command", many: "commands" },
    queuedFor: (tx, owner, limit) => tx.thingCommands.queuedFor(owner, limit),
    overdue: (tx, ...found) => tx.thingCommands.overdue(...found),
    mark: (tx, row, nowMs) => (row.step === 0 ? markFirst(tx, connectors, row, nowMs) : markSecond(tx, row, nowMs)),
    hasNextStep: (row) => row.step < planIn(row).steps.length,
    send: (connector, token, row, signal) =>
      connector.act(token, { key: row.key, step: planIn(row).steps[row.step - 1]! }, signal),
    async answered(tx, row, outcome, nowMs, isFollowed) {
      await recordAnswer(tx, row, outcome, nowMs, isFollowed);
      return { updates: [], isAwaited: false };
    },
    expectEcho: () => undefined,
    restate: () => undefined,
    forgetOverdue: () => undefined,
    settleCaused: recordCaused,
    async settleOverdue(tx, row, nowMs, isFollowed) {
      await recordOverdue(tx, row, nowMs, isFollowed);
      return [];
    },
  };
}

/** Checks the command again, against the state that it finds now, and marks its first step as sent. */
async function markFirst(
  tx: CommitTables,
  connectors: ReadonlyMap<string, Connector>,
  queued: ThingCommandRow,
  sentMs: number,
): Promise<ThingCommandRow | undefined> {
  const { userId, deviceId, thingId, id } = queued;
  const row = await tx.thingCommands.find(userId, deviceId, id);
  if (row?.state !== "queued" || (await isFanRequestBefore(tx, row))) return undefined;
  const earlier = (await tx.thingCommands.open(userId, deviceId, thingId)).filter((open) => open.id < id);
  if (earlier.some(({ state }) => state !== "accepted")) return undefined;
  const plan = await planAgain(tx, connectors, row, earlier);
  if (isCommandError(plan)) {
    const change = { state: "rejected", error: errorJson(plan), settledMs: sentMs } as const;
    await changeThingReceipt(tx, row, ["queued"], change, sentMs);
    return undefined;
  }
  const change = { state: "sending", step: 1, plan: JSON.stringify(plan), sentMs } as const;
  return changeThingReceipt(tx, row, ["queued"], change, sentMs);
}

/** A fan request to the same thermostat that was made before is sent before. */
async function isFanRequestBefore(tx: CommitTables, row: ThingCommandRow): Promise<boolean> {
  const thermostatId = thermostatIn(row.key);
  if (thermostatId === undefined) return false;
  const running = await tx.fanRequests.running(row.userId, row.deviceId, thermostatId);
  return running.some(({ state, requestedMs }) => state === "sending" || requestedMs <= row.requestedMs);
}

async function planAgain(
  tx: CommitTables,
  connectors: ReadonlyMap<string, Connector>,
  row: ThingCommandRow,
  accepted: readonly ThingCommandRow[],
): Promise<Plan | CommandError> {
  const [thing] = await tx.things.some(row.userId, [row.thingId]);
  if (!thing || thing.goneMs !== null) return { code: "unknownThing" };
  const link = await tx.links.ofDevice(row.userId, row.deviceId);
  const planning = connectors.get(link?.ecosystem ?? "")?.capabilities.planning;
  return planCommand(thingIn(thing), accepted.map(plannedIn), planIn(row).absolute, planning);
}

/** The first step was accepted. The mark of the second is refused when the outcome is known already. */
async function markSecond(tx: CommitTables, row: ThingCommandRow, sentMs: number) {
  const change = { state: "sending", step: row.step + 1, sentMs } as const;
  return changeThingReceipt(tx, row, ["sending"], change, sentMs);
}
