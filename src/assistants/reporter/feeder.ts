import type { Priority, Store, Transaction } from "../../store/seam.ts";
import type { AssistantGrantKey, ListedGrant } from "../../store/tables/assistant-grants.ts";
import type { AssistantFeed, NewMark } from "../../store/tables/assistant-marks.ts";
import type { TailedEntry } from "../../store/tables/log.ts";
import { comparePositions, type LogPosition } from "../../store/tables/log-position.ts";
import { type Changes, changesOf } from "./changes.ts";

export type FeedTables = Pick<Transaction, "log" | "logEpoch" | "assistantGrants" | "assistantMarks" | "clock">;

/** Bound of one step, in entries and marks (slightly exceeded), because others wait during it. */
const atOnce = { entries: 500, marks: 1_000 };
/** Entries that are searched for alarms in one step, when not all entries can become marks in it. */
const searchedAtOnce = 2_000;
const deadAtOnce = 100;

/**
 * Turns new log entries into marks, exactly once over all nodes: the position of the feed is locked and advances in the
 * same transaction. Alarms have a position of their own: they do not wait for the marks of thousands of other changes.
 */
export async function feedMarks(
  store: Store<FeedTables>,
  priority: Priority,
): Promise<"no grants" | "there is more" | "done"> {
  if (!(await store.read((tx) => tx.assistantGrants.isAny(), { soon: true }))) return "no grants";
  return store.transaction(async (tx) => {
    const nowMs = await tx.clock.nowMs();
    const feed = await currentFeed(tx, nowMs);
    const entries = await tx.log.tail(feed, atOnce.entries);
    if (entries.length === 0) return "done";
    if (entries.some(({ kind }) => kind === "revocation")) await tx.assistantGrants.removeDead(deadAtOnce);
    const isNew = (entry: TailedEntry) => comparePositions(entry.position, feed.urgent) > 0;
    const ofEntries = await grantsOf(tx, entries);
    const ordinary = plan(ofEntries, entries, nowMs, (mark, entry) => isNew(entry) || !isAlarm(mark));
    const reached = entries[ordinary.fed - 1]!.position;
    const hasMore = ordinary.fed < entries.length || ordinary.fed === atOnce.entries;
    const ahead = hasMore ? await tx.log.tail(latest(reached, feed.urgent), searchedAtOnce) : [];
    const alarming = ahead.filter((entry) => changesOf(entry, nowMs).marks.some(isAlarm));
    const grants = alarming.length > 0 ? await grantsOf(tx, [...entries, ...alarming]) : ofEntries;
    const alarms = plan(grants, alarming, nowMs, isAlarm, Number.POSITIVE_INFINITY);
    await addMarks(tx, [...ordinary.planned, ...alarms.planned], nowMs);
    const searched = ahead.at(-1)?.position ?? latest(reached, feed.urgent);
    await tx.assistantMarks.setFeed({ ...feed, ...reached, urgent: searched });
    return hasMore ? "there is more" : "done";
  }, priority);
}

/** Adds the marks of all grants with four statements, because each one is a round trip while others wait. */
async function addMarks(tx: FeedTables, planned: readonly NewMark[], nowMs: number): Promise<void> {
  if (planned.length === 0) return;
  const ofGrants = Map.groupBy(planned, nameOf);
  const locked = await tx.assistantGrants.lockAll([...ofGrants.values()].map(([mark]) => mark!));
  const marksOf = (grant: ListedGrant) => ofGrants.get(nameOf(grant))!;
  await tx.assistantMarks.addAll(locked.flatMap(marksOf), nowMs);
  const dueMsOf = (grant: ListedGrant) => Math.min(...marksOf(grant).map(dueOf));
  await tx.assistantGrants.wakeEachAt(
    locked.map((grant) => ({ userId: grant.userId, outletId: grant.outletId, dueMs: dueMsOf(grant) })),
  );
}

/** An alarm that started or stopped. That a thing was added or is gone is told in its order. */
function isAlarm({ isUrgent, syncMs }: Mark): boolean {
  return isUrgent === true && syncMs === undefined;
}

function latest(one: LogPosition, other: LogPosition): LogPosition {
  return comparePositions(one, other) < 0 ? other : one;
}

async function grantsOf(tx: FeedTables, entries: readonly TailedEntry[]): Promise<readonly ListedGrant[]> {
  const users = [...new Set(entries.flatMap(({ userId }) => (userId === null ? [] : [userId])))];
  return users.length === 0 ? [] : tx.assistantGrants.ofUsers(users);
}

/**
 * After the store was restored or promoted, or when retention has removed entries that were not fed, changes may be
 * missing: everything is reported again.
 */
async function currentFeed(tx: FeedTables, nowMs: number): Promise<AssistantFeed> {
  const feed = await tx.assistantMarks.lockFeed();
  const epoch = (await tx.logEpoch.current()).name;
  const horizon = await tx.log.horizon();
  const isBehind = comparePositions(feed, horizon) < 0;
  if (feed.epoch === epoch && !isBehind) return feed;
  await tx.assistantMarks.addToAll(nowMs);
  const reached = isBehind ? horizon : feed;
  const current = { ...feed, transaction: reached.transaction, id: reached.id, urgent: reached, epoch };
  await tx.assistantMarks.setFeed(current);
  return current;
}

type Mark = Changes["marks"][number];

function plan(
  grants: readonly ListedGrant[],
  entries: readonly TailedEntry[],
  nowMs: number,
  isWanted: (mark: Mark, entry: TailedEntry) => boolean,
  most = atOnce.marks,
): { readonly planned: readonly NewMark[]; readonly fed: number } {
  const byUser = Map.groupBy(grants, ({ userId }) => userId);
  const planned: NewMark[] = [];
  let fed = 0;
  for (const entry of entries) {
    fed += 1;
    const ofUser = entry.userId === null ? undefined : byUser.get(entry.userId);
    if (!ofUser) continue;
    const { marks: all, clientId } = changesOf(entry, nowMs);
    const marks = all.filter((mark) => isWanted(mark, entry));
    for (const grant of ofUser) {
      if (clientId !== undefined && clientId !== grant.clientId) continue;
      planned.push(...marks.map((mark) => ({ ...mark, userId: grant.userId, outletId: grant.outletId })));
    }
    if (planned.length >= most) break;
  }
  return { planned, fed };
}

function nameOf({ userId, outletId }: AssistantGrantKey): string {
  return `${userId} ${outletId}`;
}

/** Emergencies are due before everything else. */
function dueOf({ isUrgent, stateMs, syncMs }: Mark): number {
  return isUrgent ? 0 : Math.min(stateMs ?? Number.MAX_SAFE_INTEGER, syncMs ?? Number.MAX_SAFE_INTEGER);
}
