import type { CommandReceipt } from "../../devices/command-receipts.ts";
import type { ThingControl } from "../../devices/thing-control.ts";
import { UnknownCommand, UnknownThing } from "../../model/errors.ts";
import type { DeviceId, UserId } from "../../model/ids.ts";
import type { Store, Transaction } from "../../store/seam.ts";
import type { AssistantGrantRow } from "../../store/tables/assistant-grants.ts";
import type { AssistantMark } from "../../store/tables/assistant-marks.ts";
import type { AssistantReply } from "../../store/tables/assistant-replies.ts";
import type { AssistantMessage, DueReply, DueReport, DueThing } from "../assistant.ts";
import { hasOutcome } from "../commanding.ts";
import type { CurrentThing } from "../current-thing.ts";
import { allThings } from "../grants.ts";
import type { AssistantHomes } from "../homes.ts";
import type { Outlet } from "../outlets.ts";
import { freshnessOfLinks, groupingMs, removalMs } from "./changes.ts";
import { type Choice, choiceOf, isChoiceDue, keptChoice } from "./choice.ts";

export interface ReportParts {
  readonly homes: AssistantHomes;
  readonly control: Pick<ThingControl, "receipt">;
  /** The links of these users whose state is stale, by user. */
  readonly staleLinks: (userIds: readonly UserId[]) => Promise<ReadonlyMap<UserId, readonly DeviceId[]>>;
  readonly store: Store<Pick<Transaction, "assistantMarks">>;
}

export interface BuiltReport extends Omit<DueReport, "omitted">, Choice {
  /** The links of the user that are stale in this report. */
  readonly staleDevices: readonly DeviceId[];
  /** Links that have turned stale or live since the last report. All of their things are in this one. */
  readonly turned: readonly DeviceId[];
  /** The things that are told because all things of the user, or of a link, are to be told. */
  readonly whole: ReadonlySet<string>;
  /** Things that have just vanished, with a mark that they are to be told as added or changed. */
  readonly vanished: readonly VanishedThing[];
}

/** A thing that is told as removed later. When `sinceMs` is 0, the assistant may know parts that the thing has no longer. */
export type VanishedThing = Pick<DueThing, "thingId" | "sinceMs">;

/** The mark that all things of a link are to be told: the link has turned stale or live. */
export function turnedLink(deviceId: DeviceId): string {
  return `${freshnessOfLinks}${deviceId}`;
}

/**
 * Reads the marked things as they are now. The marks were read before, so that a later change leaves a mark that was not
 * read, and is reported again.
 */
export async function dueReport(
  parts: ReportParts,
  grant: AssistantGrantRow,
  marks: readonly AssistantMark[],
  replies: readonly AssistantReply[],
  nowMs: number,
  outlet: Pick<Outlet, "assistant" | "settings">,
): Promise<BuiltReport> {
  const { homes, control } = parts;
  const { userId, agentUserId } = grant;
  const byThing = new Map(marks.filter(({ thingId }) => isThing(thingId)).map((mark) => [mark.thingId, mark]));
  const all = marks.find(({ thingId }) => thingId === allThings);
  const ids = [...byThing.keys(), ...replies.map(({ thingId }) => thingId)];
  const marked = await homes.some(userId, [...new Set(ids)]);
  const stale = await staleDevicesOf(parts, grant, marks);
  noteFreshness(stale, marked.values());
  const whole = new Set([...changedStaleness(stale, grant.staleDevices), ...turnedBefore(marks)]);
  const isChosen = outlet.assistant.choose !== undefined && isChoiceDue(grant, marks, nowMs);
  const present = all || whole.size > 0 || isChosen ? await homes.all(userId) : [];
  // Links may have turned between the two reads.
  noteFreshness(stale, present);
  const turned = changedStaleness(stale, grant.staleDevices);
  for (const deviceId of turned) whole.add(deviceId);
  const fullyReported = present.filter(({ deviceId }) => all || whole.has(deviceId));
  const known = new Map(fullyReported.map((thing) => [thing.thingId, thing]));
  const choice = isChosen ? await choiceOf(parts, grant, present, nowMs, outlet) : keptChoice(grant);
  const shifted = new Set(choice.shifted.map(({ thingId }) => thingId));
  const read = new Map([
    ...marked,
    ...[...fullyReported, ...choice.shifted].map((thing) => [thing.thingId, thing] as const),
  ]);
  const due = (thingId: string, current: CurrentThing | undefined): DueThing => {
    const mark = byThing.get(thingId);
    const isWhole = known.has(thingId);
    const isShifted = shifted.has(thingId);
    // A thing is added before its state is told, also when the state is urgent.
    const syncUntilMs = current?.goneMs === null ? nowMs + groupingMs : nowMs;
    const isMarked = isDue(mark?.syncMs, syncUntilMs) && !isVanished(current, nowMs);
    return {
      thingId,
      current,
      wantsState: (mark !== undefined && isStateDue(mark, nowMs)) || isWhole || isShifted,
      wantsSync: isMarked || (isWhole && isDue(all?.syncMs, nowMs)) || isShifted,
      sinceMs: isWhole || isShifted ? 0 : (mark?.sinceMs ?? 0),
      isUrgent: mark?.isUrgent ?? false,
      rises: mark?.rises ?? [],
    };
  };
  const ofReport = new Set([...byThing.keys(), ...known.keys(), ...shifted]);
  const things = [...ofReport].map((thingId) => due(thingId, read.get(thingId)));
  return {
    agentUserId,
    things: [...things.filter(({ isUrgent }) => isUrgent), ...things.filter(({ isUrgent }) => !isUrgent)],
    replies: await dueReplies(control, replies, read, nowMs),
    failed: grant.attempts === 0 ? null : { attempts: grant.attempts, problem: grant.problem },
    staleDevices: [...stale],
    turned,
    whole: new Set(known.keys()),
    vanished: [...byThing.values()]
      .filter(({ thingId, syncMs }) => isDue(syncMs, nowMs) && isVanished(read.get(thingId), nowMs))
      .map(({ thingId, sinceMs }) => ({ thingId, sinceMs })),
    ...choice,
  };
}

/** A thing that its ecosystem says is gone is told as removed later. A mark that is due so soon was made before it. */
function isVanished(current: CurrentThing | undefined, nowMs: number): boolean {
  return current !== undefined && current.goneMs !== null && current.goneMs > nowMs - removalMs;
}

export function isThing(thingId: string): boolean {
  return thingId !== allThings && !thingId.startsWith(freshnessOfLinks);
}

/** The stale links of the user: as they are now when a mark asks for it, otherwise as they were reported. */
async function staleDevicesOf(
  { staleLinks }: ReportParts,
  { userId, staleDevices }: AssistantGrantRow,
  marks: readonly AssistantMark[],
): Promise<Set<DeviceId>> {
  const isCompared = marks.some(({ thingId }) => thingId === allThings || thingId === freshnessOfLinks);
  return new Set(isCompared ? ((await staleLinks([userId])).get(userId) ?? []) : staleDevices);
}

/** Updates `stale` from the things in this report, so that a link whose freshness changed gets all of its things reported. */
function noteFreshness(stale: Set<DeviceId>, things: Iterable<CurrentThing>): void {
  for (const { deviceId, isStale, goneMs } of things) {
    if (goneMs !== null) continue;
    if (isStale) stale.add(deviceId);
    else stale.delete(deviceId);
  }
}

/** Links whose change of freshness was reported only in part, because a report failed. */
function turnedBefore(marks: readonly AssistantMark[]): readonly DeviceId[] {
  return marks
    .map(({ thingId }) => thingId)
    .filter((id) => id.startsWith(freshnessOfLinks) && id !== freshnessOfLinks)
    .map((id) => Number(id.slice(freshnessOfLinks.length)) as DeviceId);
}

/** Links whose staleness changed (symmetric difference). */
function changedStaleness(now: ReadonlySet<DeviceId>, before: readonly DeviceId[]): readonly DeviceId[] {
  return [...new Set([...now, ...before])].filter((id) => now.has(id) !== before.includes(id));
}

/** What is left of a report after one of its messages. */
export function remainingReport(
  report: DueReport,
  { thingIds, tells, rises, withdrawn = [], isAhead, replies = [] }: AssistantMessage,
): DueReport {
  const messageThingIds = new Set(thingIds);
  const things = report.things.map((thing): DueThing => {
    if (!messageThingIds.has(thing.thingId)) return thing;
    const notified = rises?.[thing.thingId] ?? [];
    return {
      ...thing,
      wantsState: thing.wantsState && !tells.state,
      wantsSync: thing.wantsSync && !tells.sync,
      // Of a thing that was added or changed the whole state is told.
      sinceMs: tells.sync ? 0 : thing.sinceMs,
      rises: thing.rises.filter((rise) => !notified.includes(rise)),
    };
  });
  return {
    ...report,
    things: things.filter(({ wantsState, wantsSync }) => wantsState || wantsSync),
    withdrawn: new Set([...(report.withdrawn ?? []), ...withdrawn]),
    toldAhead: new Set([...(report.toldAhead ?? []), ...(isAhead ? thingIds : [])]),
    replies: report.replies.filter(({ reply }) => !replies.includes(reply)),
  };
}

/**
 * The same report with its things as they are now, and as stale or live as their links were when it began. A thing that has
 * vanished since may come back, so it is told as removed later: it is in `vanished` if it was to be told as added or changed.
 */
export async function readAgain(
  { homes }: Pick<ReportParts, "homes">,
  { userId }: AssistantGrantRow,
  report: DueReport,
  staleDevices: readonly DeviceId[],
): Promise<{ readonly left: DueReport; readonly vanished: readonly VanishedThing[] }> {
  const now = await homes.some(userId, [
    ...new Set([...report.things, ...report.replies].map(({ thingId }) => thingId)),
  ]);
  const currentOf = (thingId: string) => {
    const thing = now.get(thingId);
    return (
      thing && { ...thing, isStale: thing.goneMs === null ? staleDevices.includes(thing.deviceId) : thing.isStale }
    );
  };
  const hasVanished = ({ thingId, current }: DueThing) => current?.goneMs === null && now.get(thingId)?.goneMs !== null;
  return {
    left: {
      ...report,
      things: report.things.map((thing) => ({
        ...thing,
        current: currentOf(thing.thingId),
        wantsSync: thing.wantsSync && !hasVanished(thing),
      })),
      replies: report.replies.map((reply) => ({ ...reply, current: currentOf(reply.thingId) })),
    },
    vanished: report.things.filter((thing) => thing.wantsSync && hasVanished(thing)),
  };
}

/** An emergency is due whatever its time: the clock may have been set back. */
export function isStateDue({ stateMs, isUrgent }: AssistantMark, nowMs: number): boolean {
  return isDue(stateMs, nowMs) || (isUrgent && stateMs !== null);
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
