import type { CommitTables, DeviceCommit, Reaction } from "../../devices/commit.ts";
import { changeThingReceipt, planIn, thingIn } from "../../devices/thing-receipts.ts";
import { judgeEcho } from "../../home/command-echo.ts";
import { commandDeadlines } from "../../home/command-states.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { ThingCommandRow } from "../../store/tables/thing-commands.ts";
import type { LinkKeeper } from "../keeper.ts";
import type { CommandSender } from "./command-sender.ts";
import type { SentAt } from "./fan-echo.ts";

/** What the reaction must know of the commands that this node has sent. */
export interface SentCommands {
  readonly sentAt: SentAt;
  /**
   * Whether this node, or the owner of the link before it, may have sent a command to a thing of this device that the
   * ecosystem has not shown yet. Without one, nothing is looked up.
   */
  readonly mayHaveSentTo: (deviceId: DeviceId) => boolean;
  /** A look-up found no such command. */
  readonly foundNone: (deviceId: DeviceId) => void;
}

/** The commands that a node's sender has sent. The sender is created after the reaction. */
export function sentCommands(
  federation: () => {
    readonly commands: Pick<CommandSender<ThingCommandRow>, "sentAt" | "hasSentTo">;
    readonly keeper: Pick<LinkKeeper, "mayInheritCommands" | "inheritsNoCommands">;
  },
): SentCommands {
  return {
    sentAt: (commandId) => federation().commands.sentAt(commandId),
    mayHaveSentTo: (deviceId) =>
      federation().commands.hasSentTo(deviceId) ||
      federation().keeper.mayInheritCommands(deviceId, commandDeadlines.showMs),
    foundNone: (deviceId) => federation().keeper.inheritsNoCommands(deviceId),
  };
}

/**
 * Confirms a command when the ecosystem shows everything that the command asked for, and contradicts an accepted one
 * when its thing is gone. A snapshot that was received before the command was sent does not count.
 */
export function thingEcho({ sentAt, mayHaveSentTo, foundNone }: SentCommands): Reaction {
  return async (tx, commit) => {
    const { userId, deviceId, cause, things, timeMs } = commit;
    if (cause.by !== "ecosystem" || things.length === 0 || !mayHaveSentTo(deviceId)) return [];
    // After the clock was set back, the times of a device are ahead of it, and so of the sending.
    const nowMs = Math.min(timeMs, await tx.clock.nowMs());
    const awaiting = await tx.thingCommands.awaitingEcho(userId, deviceId, nowMs - commandDeadlines.showMs);
    if (awaiting.length === 0) foundNone(deviceId);
    const changed = new Set(things.map(({ thingId }) => thingId));
    for (const row of awaiting) {
      if (changed.has(row.thingId) && isSentBefore(commit, sentAt(row.id))) await settleByState(tx, row, timeMs);
    }
    return [];
  };
}

/**
 * Another node sent a command only while it owned the link. This node received its snapshots after it had claimed the
 * link, and so after that sending.
 */
function isSentBefore({ receivedMs }: DeviceCommit, sentMs: number | undefined): boolean {
  return receivedMs === undefined || sentMs === undefined || sentMs <= receivedMs;
}

async function settleByState(tx: CommitTables, row: ThingCommandRow, timeMs: number): Promise<void> {
  const [thing] = await tx.things.some(row.userId, [row.thingId]);
  if (thing && thing.goneMs !== null) {
    // One that is still being sent waits for the ecosystem's answer.
    await changeThingReceipt(tx, row, ["accepted"], { state: "contradicted", settledMs: timeMs }, timeMs);
    return;
  }
  if (!thing || judgeEcho(planIn(row).expected, thingIn(thing).traits) !== "holds") return;
  const change = { state: "confirmed", error: null, settledMs: timeMs } as const;
  await changeThingReceipt(tx, row, ["sending", "accepted", "expired"], change, timeMs);
}
