import type { CommitTables, DeviceUpdate } from "../../devices/commit.ts";
import type { CommandOutcome } from "../../ecosystems/connector.ts";
import type { CommandState } from "../../home/command-states.ts";
import type { FanRequestChange, FanRequestRow } from "../../store/tables/fan-requests.ts";
import { fanErrorText, fanMessage, noAnswer } from "../../virtual-device/fan-request.ts";
import { unconfirmedStates } from "./awaited-fans.ts";
import { changeReceipt } from "./fan-receipts.ts";
import { type FanSlot, slotOf } from "./fan-slot.ts";

/**
 * The changes that follow from the ecosystem's answer. The answer is the best evidence about a request, so it also
 * replaces `expired`, and what the stream seemed to show.
 */
export async function answered(
  tx: CommitTables,
  { userId, deviceId, id }: FanRequestRow,
  outcome: CommandOutcome,
  nowMs: number,
  isFollowed: boolean,
): Promise<readonly DeviceUpdate[]> {
  const command = await tx.fanRequests.find(userId, deviceId, id);
  if (!command) return [];
  const slot = await slotOf(tx, command);
  switch (outcome.state) {
    case "accepted": {
      const change =
        slot.isGone && isFollowed
          ? ({ state: "contradicted", text: null, settledMs: nowMs } as const)
          : ({ state: "accepted", text: null, settledMs: null } as const);
      return record(tx, command, slot, ["sending", "expired"], change, nowMs);
    }
    case "rejected":
    case "unauthorized": {
      const change = { state: "rejected", ...refusal(outcome, nowMs), settledMs: nowMs } as const;
      return record(tx, command, slot, ["sending", "expired", "confirmed", "contradicted"], change, nowMs);
    }
    case "unanswered":
      return record(tx, command, slot, ["sending"], { state: "expired", text: noAnswer, settledMs: nowMs }, nowMs);
  }
}

/**
 * Keeps the ecosystem's answer in the receipt while `requestWrite` still holds the request: a refusal as the text of a
 * request that is being sent. The sweep (`overdue`) settles both together.
 */
export async function keepAnswer(
  tx: CommitTables,
  command: FanRequestRow,
  outcome: CommandOutcome,
  nowMs: number,
): Promise<void> {
  if (outcome.state === "unanswered") return;
  const change: FanRequestChange =
    outcome.state === "accepted" ? { state: "accepted" } : { state: "sending", ...refusal(outcome, nowMs) };
  await changeReceipt(tx, command, ["sending"], change, nowMs);
}

function refusal(outcome: Extract<CommandOutcome, { readonly state: "rejected" | "unauthorized" }>, nowMs: number) {
  if (outcome.state === "unauthorized") return { text: "The account must be linked again", blockedUntilMs: null };
  const { message, retryAfterMs } = outcome;
  return { text: fanMessage(message), blockedUntilMs: retryAfterMs === undefined ? null : nowMs + retryAfterMs };
}

/** Whether an accepted request asks for the state that the fan is shown in already. */
export async function isShownAlready(tx: CommitTables, { userId, deviceId, id }: FanRequestRow): Promise<boolean> {
  const command = await tx.fanRequests.find(userId, deviceId, id);
  return command?.state === "accepted" && isInRequestedState(command, await slotOf(tx, command));
}

/** Writes the fan's value again, with a new time. The echo of that confirms the request. */
export async function restate(
  tx: CommitTables,
  { userId, deviceId, id }: FanRequestRow,
): Promise<readonly DeviceUpdate[]> {
  const command = await tx.fanRequests.find(userId, deviceId, id);
  if (!command || !unconfirmedStates.includes(command.state)) return [];
  const slot = await slotOf(tx, command);
  if (!isInRequestedState(command, slot)) return [];
  return [{ deviceId, changes: [{ key: slot.fanKey, value: command.value, isRestated: true }] }];
}

function isInRequestedState({ value }: FanRequestRow, { isSameThermostat, isLatest, fan }: FanSlot): boolean {
  return isSameThermostat && isLatest && fan === value;
}

/**
 * Settles a request that stayed in one state for too long. For an accepted request the fan's shown state decides, if
 * a node follows the link live and no later request exists.
 */
export async function overdue(
  tx: CommitTables,
  found: FanRequestRow,
  nowMs: number,
  isFollowed: boolean,
): Promise<readonly DeviceUpdate[]> {
  const { userId, deviceId, id } = found;
  const command = await tx.fanRequests.find(userId, deviceId, id);
  // Another node has settled it meanwhile.
  if (command?.state !== found.state) return [];
  const slot = await slotOf(tx, command);
  const { state, text } = command;
  if (state !== "accepted") {
    // A node that stopped has kept the ecosystem's refusal.
    const outcome =
      text === null ? ({ state: "expired", text: noAnswer } as const) : ({ state: "rejected", text } as const);
    return record(tx, command, slot, [state], { ...outcome, settledMs: nowMs }, nowMs);
  }
  const change = {
    state: shownOutcome(command, slot, isFollowed) ?? "accepted",
    text: null,
    settledMs: nowMs,
  } as const;
  // Erases `requestWrite`, unless that was done when the answer came.
  return record(tx, command, slot, ["accepted"], change, nowMs);
}

/** Settles an accepted request by the state that the ecosystem shows as its effect. */
export async function caused(
  tx: CommitTables,
  found: FanRequestRow,
  nowMs: number,
  isFollowed: boolean,
): Promise<void> {
  const { userId, deviceId, id } = found;
  const command = await tx.fanRequests.find(userId, deviceId, id);
  if (command?.state !== "accepted" || command.settledMs !== null) return;
  const state = shownOutcome(command, await slotOf(tx, command), isFollowed);
  if (state) await changeReceipt(tx, command, ["accepted"], { state, settledMs: nowMs }, nowMs);
}

/** What the fan's shown state says of the latest request; undefined when it says nothing. */
function shownOutcome({ value }: FanRequestRow, slot: FanSlot, isFollowed: boolean) {
  // The ecosystem has the thermostat no longer, so it will never show the result.
  if (slot.isGone && isFollowed) return "contradicted";
  if (!slot.isSameThermostat || !slot.isLatest || !isFollowed) return undefined;
  return slot.fan === value ? "confirmed" : "contradicted";
}

async function record(
  tx: CommitTables,
  command: FanRequestRow,
  { isWritable }: FanSlot,
  from: readonly CommandState[],
  change: FanRequestChange & { readonly text: string | null },
  nowMs: number,
): Promise<readonly DeviceUpdate[]> {
  if (!(await changeReceipt(tx, command, from, change, nowMs)) || !isWritable) return [];
  const text = change.text === null ? null : fanErrorText(change.text, command.value, change.settledMs ?? 0);
  return [{ deviceId: command.deviceId, changes: [{ key: command.attribute, value: text }] }];
}
