import type { CommitTables, DeviceUpdate } from "../devices/commit.ts";
import type { CommandOutcome } from "../ecosystem/connector.ts";
import { type FanRequestState, fanErrorText, fanMessage, noAnswer } from "../model/fan-request.ts";
import type { CommandChange, CommandRow } from "../store/tables/commands.ts";
import { changeReceipt } from "./fan-receipts.ts";
import { type FanSlot, slotOf } from "./fan-slot.ts";

/**
 * What the ecosystem's answer changes. It is the best word on a request, so it also counts when somebody had already
 * recorded that nobody knows, or when the stream seemed to show it.
 */
export async function answered(
  tx: CommitTables,
  { userId, deviceId, id }: CommandRow,
  outcome: CommandOutcome,
  nowMs: number,
): Promise<readonly DeviceUpdate[]> {
  const command = await tx.commands.find(userId, deviceId, id);
  if (!command) return [];
  const slot = await slotOf(tx, command);
  const reject = (text: string, blockedUntilMs: number | null = null) => {
    const change = { state: "rejected", text, settledMs: nowMs, blockedUntilMs } as const;
    return record(tx, command, slot, ["sending", "expired", "confirmed", "contradicted"], change, nowMs);
  };
  switch (outcome.state) {
    case "accepted":
      return record(
        tx,
        command,
        slot,
        ["sending", "expired"],
        { state: "accepted", text: null, settledMs: null },
        nowMs,
      );
    case "rejected":
      return reject(
        fanMessage(outcome.message),
        outcome.retryAfterMs === undefined ? null : nowMs + outcome.retryAfterMs,
      );
    case "unauthorized":
      return reject("The account must be linked again");
    case "unanswered":
      return record(tx, command, slot, ["sending"], { state: "expired", text: noAnswer, settledMs: nowMs }, nowMs);
  }
}

/** Whether a request that the ecosystem accepted asks for what the fan is shown to do already. */
export async function isShownAlready(tx: CommitTables, { userId, deviceId, id }: CommandRow): Promise<boolean> {
  const command = await tx.commands.find(userId, deviceId, id);
  if (command?.state !== "accepted") return false;
  const { isSameThermostat, isLatest, fan } = await slotOf(tx, command);
  return isSameThermostat && isLatest && fan === command.value;
}

/**
 * What it changes that a request stayed as it was found for too long. Whether one that was taken was carried out, what
 * is shown of the fan tells, if the account is followed and no later request had its say.
 */
export async function overdue(tx: CommitTables, found: CommandRow, nowMs: number): Promise<readonly DeviceUpdate[]> {
  const { userId, deviceId, id } = found;
  const command = await tx.commands.find(userId, deviceId, id);
  // Somebody else has dealt with it since.
  if (command?.state !== found.state) return [];
  const slot = await slotOf(tx, command);
  if (command.state !== "accepted") {
    return record(tx, command, slot, [command.state], { state: "expired", text: noAnswer, settledMs: nowMs }, nowMs);
  }
  const isFollowed = (await tx.links.ofDevice(userId, deviceId))?.state === "live";
  const canBeTold = slot.isSameThermostat && slot.isLatest && isFollowed;
  const told = slot.fan === command.value ? "confirmed" : "contradicted";
  const change = { state: canBeTold ? told : "accepted", settledMs: nowMs } as const;
  await changeReceipt(tx, command, ["accepted"], change, nowMs);
  return [];
}

async function record(
  tx: CommitTables,
  command: CommandRow,
  { isWritable }: FanSlot,
  from: readonly FanRequestState[],
  change: CommandChange & { readonly text: string | null },
  nowMs: number,
): Promise<readonly DeviceUpdate[]> {
  if (!(await changeReceipt(tx, command, from, change, nowMs)) || !isWritable) return [];
  const text = change.text === null ? null : fanErrorText(change.text, command.value, change.settledMs ?? 0);
  return [{ deviceId: command.deviceId, changes: [{ key: command.attribute, value: text }] }];
}
