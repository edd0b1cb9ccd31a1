import type { AttributeChange, CommitTables, DeviceCommit, Reaction } from "../../devices/commit.ts";
import { commandDeadlines } from "../../home/command-states.ts";
import type { FanRequestRow } from "../../store/tables/fan-requests.ts";
import { positionOf, thermostatAttribute } from "../../virtual-device/attribute-names.ts";
import { unconfirmedStates } from "./awaited-fans.ts";
import { changeReceipt } from "./fan-receipts.ts";
import { slotOf } from "./fan-slot.ts";

/**
 * When this node sent a request, on its monotonic clock. Infinity: not sent yet. Undefined: another node sent it, or
 * this node before a restart.
 */
export type SentAt = (commandId: number) => number | undefined;

/**
 * Closes a fan request when the stream shows the fan's state: confirmed, or contradicted when the fan stops again at
 * once. It also contradicts an accepted request when its thermostat is gone. An echo that was received before the
 * request was sent does not count, nor does one of another thermostat that has the slot now.
 */
export function fanEcho(sentAt: SentAt): Reaction {
  return async (tx, commit) => {
    if (commit.cause.by !== "ecosystem") return [];
    const changes: AttributeChange[] = [];
    const isAnyGone = commit.things.some(({ what }) => what === "gone");
    for (const { key, value } of commit.changes) {
      const position = typeof key === "number" ? positionOf(key) : undefined;
      if (position?.kind !== "thermostat") continue;
      const shown = position.field === "fanTimerActive" ? value : null;
      const mayBeGone = position.field === "deviceId" && isAnyGone;
      if (shown === null && !mayBeGone) continue;
      const request = thermostatAttribute(position.x, position.y, "requestWrite");
      const command = await tx.fanRequests.latest(commit.userId, commit.deviceId, request);
      if (!command) continue;
      if (shown === null) {
        await contradictGone(tx, command, commit, sentAt);
        continue;
      }
      await confirmEarlier(tx, command, shown, commit, sentAt);
      if (isOlder(commit, sentAt(command.id))) continue;
      if (await close(tx, command, shown, commit.timeMs)) changes.push({ key: request, value: null });
    }
    return changes.length === 0 ? [] : [{ deviceId: commit.deviceId, changes, cause: commit.cause }];
  };
}

function isOlder({ receivedMs }: DeviceCommit, sentMs: number | undefined): boolean {
  return receivedMs !== undefined && sentMs !== undefined && receivedMs < sentMs;
}

/** Contradicts the accepted requests of a slot whose thermostat is gone. */
async function contradictGone(
  tx: CommitTables,
  latest: FanRequestRow,
  commit: DeviceCommit,
  sentAt: SentAt,
): Promise<void> {
  const { timeMs } = commit;
  for (const command of [...(await tx.fanRequests.acceptedBefore(latest)), latest]) {
    if (command.settledMs !== null || isOlder(commit, sentAt(command.id))) continue;
    if (!(await slotOf(tx, command)).isGone) continue;
    await changeReceipt(tx, command, ["accepted"], { state: "contradicted", settledMs: timeMs }, timeMs);
  }
}

/** Confirms requests that were accepted before the latest one was written, if the stream shows their state only now. */
async function confirmEarlier(
  tx: CommitTables,
  latest: FanRequestRow,
  shown: string,
  commit: DeviceCommit,
  sentAt: SentAt,
): Promise<void> {
  const { timeMs } = commit;
  for (const command of await tx.fanRequests.acceptedBefore(latest)) {
    if (shown !== command.value || isOlder(commit, sentAt(command.id))) continue;
    if (!(await slotOf(tx, command)).isSameThermostat) continue;
    await changeReceipt(tx, command, ["accepted"], { state: "confirmed", text: null, settledMs: timeMs }, timeMs);
  }
}

/** Returns whether to erase `requestWrite`: the fan is in the requested state, and no later request was written. */
async function close(tx: CommitTables, command: FanRequestRow, shown: string, timeMs: number): Promise<boolean> {
  const { isSameThermostat, isWritable } = await slotOf(tx, command);
  if (!isSameThermostat) return false;
  if (shown === command.value) {
    const change = { state: "confirmed", text: null, settledMs: timeMs } as const;
    return (await changeReceipt(tx, command, unconfirmedStates, change, timeMs)) && isWritable;
  }
  const isAtOnce = command.settledMs !== null && timeMs < command.settledMs + commandDeadlines.showMs;
  const change = { state: "contradicted", settledMs: timeMs } as const;
  if (isAtOnce) await changeReceipt(tx, command, ["confirmed"], change, timeMs);
  return false;
}
