import type { CommitTables, DeviceCommit, Reaction } from "../../devices/commit.ts";
import { judgeEcho } from "../../home/command-echo.ts";
import { commandDeadlines } from "../../home/command-states.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { ThingCommandRow } from "../../store/tables/thing-commands.ts";
import type { CommandSender } from "./command-sender.ts";
import type { SentAt } from "./fan-echo.ts";
import { changeThingReceipt, planIn, thingIn } from "./thing-receipts.ts";

/** What the reaction must know of the commands that this node has sent. */
export interface SentCommands {
  readonly sentAt: SentAt;
  /** Whether this node has recently sent a command to a thing of this device. Without one, nothing is looked up. */
  readonly hasSentTo: (deviceId: DeviceId) => boolean;
}

/** The commands that a node's sender has sent. The sender is created after the reaction. */
export function sentCommands(
  federation: () => { readonly commands: Pick<CommandSender<ThingCommandRow>, "sentAt" | "hasSentTo"> },
): SentCommands {
  return {
    sentAt: (commandId) => federation().commands.sentAt(commandId),
    hasSentTo: (deviceId) => federation().commands.hasSentTo(deviceId),
  };
}

/**
 * Confirms a command when the ecosystem shows everything that the command asked for. A snapshot that was received before
 * the command was sent does not count. A command that another node sent before it died is settled at its deadline.
 */
export function thingEcho({ sentAt, hasSentTo }: SentCommands): Reaction {
  return async (tx, commit) => {
    const { userId, deviceId, cause, things, timeMs } = commit;
    if (cause.by !== "ecosystem" || things.length === 0 || !hasSentTo(deviceId)) return [];
    const changed = new Set(things.map(({ thingId }) => thingId));
    for (const row of await tx.thingCommands.awaitingEcho(userId, deviceId, timeMs - commandDeadlines.showMs)) {
      if (changed.has(row.thingId) && isSentBefore(commit, sentAt(row.id))) await confirmIfShown(tx, row, timeMs);
    }
    return [];
  };
}

function isSentBefore({ receivedMs }: DeviceCommit, sentMs: number | undefined): boolean {
  return receivedMs === undefined || (sentMs !== undefined && sentMs <= receivedMs);
}

async function confirmIfShown(tx: CommitTables, row: ThingCommandRow, timeMs: number): Promise<void> {
  const [thing] = await tx.things.some(row.userId, [row.thingId]);
  if (!thing || judgeEcho(planIn(row).expected, thingIn(thing).traits) !== "holds") return;
  const change = { state: "confirmed", error: null, settledMs: timeMs } as const;
  await changeThingReceipt(tx, row, ["sending", "accepted", "expired"], change, timeMs);
}
