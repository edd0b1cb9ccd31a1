import type { CommitTables } from "../../devices/commit.ts";
import { changeThingReceipt, commandIn, errorJson, planIn, thingIn } from "../../devices/thing-receipts.ts";
import type { CommandOutcome } from "../../ecosystems/connector.ts";
import { type Echo, judgeEcho } from "../../home/command-echo.ts";
import type { CommandError } from "../../home/command-errors.ts";
import { cleanText } from "../../model/clean-text.ts";
import type { ThingCommandRow } from "../../store/tables/thing-commands.ts";

/**
 * Records the ecosystem's answer. It is the best evidence about a command, so it also replaces `expired`, and what the
 * stream seemed to show.
 */
export async function recordAnswer(
  tx: CommitTables,
  row: ThingCommandRow,
  outcome: CommandOutcome,
  nowMs: number,
  isFollowed: boolean,
): Promise<void> {
  const found = await tx.thingCommands.find(row.userId, row.deviceId, row.id);
  if (!found) return;
  switch (outcome.state) {
    case "accepted":
      return accept(tx, found, nowMs, isFollowed);
    case "rejected": {
      const { message, retryAfterMs } = outcome;
      const blockedUntilMs = retryAfterMs === undefined ? null : nowMs + retryAfterMs;
      return reject(tx, found, errorJson(refusalOf(found, outcome), cleanText(message)), nowMs, blockedUntilMs);
    }
    case "unauthorized":
      return reject(tx, found, errorJson({ code: "needsReauth" }), nowMs);
    case "unanswered": {
      const change = { state: "expired", error: errorJson({ code: "noAnswer" }), settledMs: nowMs } as const;
      await changeThingReceipt(tx, found, ["sending"], change, nowMs);
    }
  }
}

async function accept(tx: CommitTables, row: ThingCommandRow, nowMs: number, isFollowed: boolean): Promise<void> {
  // A state that holds already changes nothing, so that no later commit would confirm the command.
  const echo = await shownEcho(tx, row, isFollowed);
  const state = echo === "holds" ? "confirmed" : echo === "gone" ? "contradicted" : "accepted";
  const change = { state, error: null, settledMs: state === "accepted" ? null : nowMs } as const;
  if (!(await changeThingReceipt(tx, row, ["sending", "expired"], change, nowMs))) return;
  // The state will show this command instead of older ones of its kind, which were accepted and not shown yet.
  const { trait, command } = commandIn(row);
  for (const open of await tx.thingCommands.open(row.userId, row.deviceId, row.thingId)) {
    const older = commandIn(open);
    if (open.id >= row.id || older.trait !== trait || older.command !== command) continue;
    await changeThingReceipt(tx, open, ["accepted"], { state: "accepted", settledMs: nowMs }, nowMs);
  }
}

async function reject(
  tx: CommitTables,
  row: ThingCommandRow,
  error: string,
  nowMs: number,
  blockedUntilMs: number | null = null,
): Promise<void> {
  const change = { state: "rejected", error, settledMs: nowMs, blockedUntilMs } as const;
  await changeThingReceipt(tx, row, ["sending", "expired", "confirmed", "contradicted"], change, nowMs);
}

function refusalOf(
  row: ThingCommandRow,
  { message, retryAfterMs, reason }: Extract<CommandOutcome, { readonly state: "rejected" }>,
): CommandError {
  if (retryAfterMs !== undefined) return { code: "rateLimited", retryAfterMs };
  if (reason === "notSupported") {
    const { trait, command } = commandIn(row);
    return { code: reason, command: `${trait}.${command}`, reason: cleanText(message) };
  }
  if (reason !== undefined) return { code: reason };
  return { code: "refused", text: cleanText(message) };
}

/**
 * Settles an accepted command by the state that the ecosystem shows as its effect. A state without
 * any field that the command sets settles nothing.
 */
export async function recordCaused(
  tx: CommitTables,
  found: ThingCommandRow,
  nowMs: number,
  isFollowed: boolean,
): Promise<void> {
  const row = await tx.thingCommands.find(found.userId, found.deviceId, found.id);
  if (row?.state !== "accepted" || row.settledMs !== null) return;
  const echo = await shownEcho(tx, row, isFollowed);
  if (echo === "unknown") return;
  const state = echo === "holds" ? "confirmed" : "contradicted";
  await changeThingReceipt(tx, row, ["accepted"], { state, settledMs: nowMs }, nowMs);
}

/**
 * Settles a command that stayed in one state for too long. For an accepted command the shown state decides, if a node
 * follows the link live.
 */
export async function recordOverdue(
  tx: CommitTables,
  found: ThingCommandRow,
  nowMs: number,
  isFollowed: boolean,
): Promise<void> {
  const row = await tx.thingCommands.find(found.userId, found.deviceId, found.id);
  // Another node has settled it meanwhile.
  if (row?.state !== found.state) return;
  if (row.state !== "accepted") {
    const error = errorJson({ code: row.state === "queued" ? "notSent" : "noAnswer" });
    await changeThingReceipt(tx, row, [row.state], { state: "expired", error, settledMs: nowMs }, nowMs);
    return;
  }
  const echo = await shownEcho(tx, row, isFollowed);
  const state = settledBy[echo];
  await changeThingReceipt(tx, row, ["accepted"], { state, settledMs: nowMs }, nowMs);
}

const settledBy = {
  holds: "confirmed",
  differs: "contradicted",
  // The ecosystem has the thing no longer, so it will never show the result.
  gone: "contradicted",
  unknown: "accepted",
} as const;

/** What the stored state shows of the command's result; unknown while no node follows the link live. */
async function shownEcho(tx: CommitTables, row: ThingCommandRow, isFollowed: boolean): Promise<Echo | "gone"> {
  if (!isFollowed) return "unknown";
  const [thing] = await tx.things.some(row.userId, [row.thingId]);
  if (!thing) return "unknown";
  if (thing.goneMs !== null) return "gone";
  return judgeEcho(planIn(row).expected, thingIn(thing).traits);
}
