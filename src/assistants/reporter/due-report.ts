import type { CommandReceipt } from "../../devices/command-receipts.ts";
import type { ThingControl } from "../../devices/thing-control.ts";
import { UnknownCommand, UnknownThing } from "../../model/errors.ts";
import type { DeviceId, UserId } from "../../model/ids.ts";
import type { AssistantGrantRow } from "../../store/tables/assistant-grants.ts";
import type { AssistantMark } from "../../store/tables/assistant-marks.ts";
import type { AssistantReply } from "../../store/tables/assistant-replies.ts";
import type { DueReply, DueReport, DueThing } from "../assistant.ts";
import { hasOutcome } from "../commanding.ts";
import type { CurrentThing } from "../current-thing.ts";
import { allThings } from "../grants.ts";
import type { AssistantHomes } from "../homes.ts";
import { freshnessOfLinks } from "./changes.ts";

export interface ReportParts {
  readonly homes: AssistantHomes;
  readonly control: Pick<ThingControl, "receipt">;
  /** The links of these users whose state is stale, by user. */
  readonly staleLinks: (userIds: readonly UserId[]) => Promise<ReadonlyMap<UserId, readonly DeviceId[]>>;
}

export interface BuiltReport extends DueReport {
  /** The links that this report tells as stale, and those that were told before it and are not compared by it. */
  readonly staleDevices: readonly DeviceId[];
}

/**
 * Reads the marked things as they are now. The marks were read before, so that a later change leaves a mark that was not
 * read, and is reported again.
 */
export async function dueReport(
  { homes, control, staleLinks }: ReportParts,
  grant: AssistantGrantRow,
  marks: readonly AssistantMark[],
  replies: readonly AssistantReply[],
  nowMs: number,
): Promise<BuiltReport> {
  const { userId, agentUserId } = grant;
  const byThing = new Map(marks.map((mark) => [mark.thingId, mark]));
  const [all, freshness] = [byThing.get(allThings), byThing.get(freshnessOfLinks)];
  byThing.delete(allThings);
  byThing.delete(freshnessOfLinks);
  const staleDevices = all || freshness ? ((await staleLinks([userId])).get(userId) ?? []) : grant.staleDevices;
  const turned = new Set([...staleDevices, ...grant.staleDevices].filter((id) => isOneSided(id, staleDevices, grant)));
  const present = all || turned.size > 0 ? await homes.all(userId) : [];
  const wanted = present.filter(({ deviceId }) => all || turned.has(deviceId));
  const known = new Map(wanted.map((thing) => [thing.thingId, thing]));
  const missing = [...byThing.keys(), ...replies.map(({ thingId }) => thingId)].filter((id) => !known.has(id));
  const read = new Map([...known, ...(await homes.some(userId, [...new Set(missing)]))]);
  const due = (thingId: string, current: CurrentThing | undefined): DueThing => {
    const mark = byThing.get(thingId);
    const isWhole = known.has(thingId);
    return {
      thingId,
      current,
      wantsState: isDue(mark?.stateMs, nowMs) || isWhole,
      wantsSync: isDue(mark?.syncMs, nowMs) || (isWhole && isDue(all?.syncMs, nowMs)),
      sinceMs: isWhole ? 0 : (mark?.sinceMs ?? 0),
      isUrgent: mark?.isUrgent ?? false,
      rises: mark?.rises ?? [],
    };
  };
  const ids = [...new Set([...byThing.keys(), ...known.keys()])];
  const things = ids.map((thingId) => due(thingId, read.get(thingId)));
  return {
    agentUserId,
    things: [...things.filter(({ isUrgent }) => isUrgent), ...things.filter(({ isUrgent }) => !isUrgent)],
    replies: await dueReplies(control, replies, read, nowMs),
    // A link may have turned stale with no mark about it: its things are told again when it is live.
    staleDevices: [...new Set([...staleDevices, ...toldAsStale(read)])],
  };
}

function toldAsStale(things: ReadonlyMap<string, CurrentThing>): readonly DeviceId[] {
  return [...things.values()].filter(({ isStale }) => isStale).map(({ deviceId }) => deviceId);
}

function isOneSided(id: DeviceId, now: readonly DeviceId[], { staleDevices: before }: AssistantGrantRow): boolean {
  return now.includes(id) !== before.includes(id);
}

export function isDue(timeMs: number | null | undefined, nowMs: number): boolean {
  return timeMs != null && timeMs <= nowMs;
}

/** The replies whose commands have an outcome, or never will have one that the assistant waits for. */
async function dueReplies(
  control: Pick<ThingControl, "receipt">,
  replies: readonly AssistantReply[],
  things: ReadonlyMap<string, CurrentThing>,
  nowMs: number,
): Promise<readonly DueReply[]> {
  const due: DueReply[] = [];
  for (const { userId, thingId, commandId, reply, expiresMs } of replies) {
    const found = await receiptOrNone(control, userId, thingId, commandId);
    const receipt = found && hasOutcome(found) ? found : undefined;
    if (!receipt && found && nowMs < expiresMs) continue;
    due.push({ thingId, reply, receipt, current: things.get(thingId) });
  }
  return due;
}

/** The receipt of a thing that was removed meanwhile is gone. */
async function receiptOrNone(
  control: Pick<ThingControl, "receipt">,
  userId: UserId,
  thingId: string,
  commandId: string,
): Promise<CommandReceipt | undefined> {
  try {
    return await control.receipt({ kind: "user", userId }, thingId, commandId);
  } catch (error) {
    if (error instanceof UnknownThing || error instanceof UnknownCommand) return undefined;
    throw error;
  }
}
