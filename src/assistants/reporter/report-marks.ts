import type { Priority, Store } from "../../store/seam.ts";
import type { ClaimedGrant } from "../../store/tables/assistant-grants.ts";
import type { AssistantMark, MarkOfGrant } from "../../store/tables/assistant-marks.ts";
import type { DueThing } from "../assistant.ts";
import type { Attempt, SendingTables } from "./attempt.ts";
import { removalMs } from "./changes.ts";
import { type BuiltReport, isDue, isThing, turnedLink } from "./due-report.ts";
import { reportTimes } from "./report-times.ts";

/** Others wait while marks are written. */
const marksAtOnce = 500;

/**
 * Stores before the first message which links are told as stale and which devices are offered, with a mark for each link
 * that has turned and each thing that is offered from now on, or no longer. If this report fails, or its node dies, the
 * next one tells them. Undefined when the link to the assistant has ended, or another node has claimed the grant.
 */
export async function storeReportBaseline(
  store: Store<SendingTables>,
  priority: Priority,
  grant: ClaimedGrant,
  read: readonly AssistantMark[],
  { turned, staleDevices, shifted, omittedIds: omitted }: BuiltReport,
  nowMs: number,
): Promise<readonly AssistantMark[] | undefined> {
  if (turned.length === 0 && isSameList(omitted, grant.omitted)) return [];
  const marks = [
    ...turned.map((deviceId) => ({ thingId: turnedLink(deviceId), stateMs: nowMs })),
    ...shifted.map(({ thingId, goneMs }) => ({
      ...{ thingId, stateMs: nowMs, syncMs: nowMs, sinceMs: 0 },
      isPresent: goneMs === null,
    })),
  ];
  const kept: AssistantMark[] = [];
  for (let from = 0; from === 0 || from < marks.length; from += marksAtOnce) {
    // If the node dies before the last of these transactions, the next report makes the same choice again.
    const reportBaseline = from + marksAtOnce < marks.length ? undefined : { staleDevices, omitted };
    const added = await store.transaction(async (tx) => {
      const untilMs = (await tx.clock.nowMs()) + reportTimes.claimMs;
      if (!(await tx.assistantGrants.prolong(grant, untilMs, reportBaseline))) return undefined;
      return addToRead(tx, grant, read, marks.slice(from, from + marksAtOnce), nowMs);
    }, priority);
    if (!added) return undefined;
    kept.push(...added);
  }
  return kept;
}

/**
 * Replaces the marks for all things of the user, or of a link, by marks of the things that are left to be told. So a report
 * that takes longer than a claim, or that fails again and again, comes to an end. A mark for all things that has changed
 * since it was read stays.
 */
export async function markLeft(
  store: Store<SendingTables>,
  priority: Priority,
  grant: ClaimedGrant,
  attempt: Attempt,
  left: readonly DueThing[],
  readMs: number,
): Promise<void> {
  const read = attempt.marks;
  const ofAll = read.filter(({ thingId }) => !isThing(thingId));
  if (ofAll.length === 0) return;
  const marks = left.map(({ thingId, current, wantsState, wantsSync }) => ({
    ...{ thingId, sinceMs: 0, isPresent: current?.goneMs === null },
    ...(wantsState && { stateMs: readMs }),
    ...(wantsSync && { syncMs: readMs }),
  }));
  for (let from = 0; from === 0 || from < marks.length; from += marksAtOnce) {
    const isLast = from + marksAtOnce >= marks.length;
    const added = await store.transaction(async (tx) => {
      if (!(await tx.assistantGrants.prolong(grant, (await tx.clock.nowMs()) + reportTimes.claimMs))) return undefined;
      const kept = await addToRead(tx, grant, read, marks.slice(from, from + marksAtOnce), readMs);
      if (isLast) {
        await tx.assistantMarks.removeAllSent(grant, ofAll, ({ stateMs, syncMs }) => ({
          state: isDue(stateMs, readMs),
          sync: isDue(syncMs, readMs),
        }));
      }
      return kept;
    }, priority);
    if (!added) return;
    attempt.replaceMarks(isLast ? ofAll : [], added);
  }
}

/**
 * Adds marks, and returns those that this report tells. A mark that has changed since it was read is not among them: the
 * report does not tell that change, so the mark must stay.
 */
async function addToRead(
  tx: SendingTables,
  grant: ClaimedGrant,
  read: readonly AssistantMark[],
  marks: readonly (MarkOfGrant & { readonly isPresent?: boolean })[],
  nowMs: number,
): Promise<readonly AssistantMark[]> {
  const versions = new Map(read.map(({ thingId, version }) => [thingId, version]));
  const ids = marks.map(({ thingId }) => thingId);
  const found = await tx.assistantMarks.some(grant, ids);
  const isChanged = ({ thingId, version }: AssistantMark) => versions.get(thingId) !== version;
  const changed = new Map(found.filter(isChanged).map((mark) => [mark.thingId, mark]));
  const { userId, outletId } = grant;
  const added = marks.map(({ isPresent = false, ...mark }) => {
    // The thing has vanished since the home was read: it is not told as removed before its time.
    const isVanished = isPresent && (changed.get(mark.thingId)?.syncMs ?? 0) >= nowMs + removalMs;
    return { ...mark, userId, outletId, ...(isVanished && { syncMs: undefined }) };
  });
  const now = await tx.assistantMarks.addAll(added, nowMs);
  return now.filter(({ thingId }) => !changed.has(thingId));
}

function isSameList(one: readonly string[] | null, other: readonly string[] | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
