import { grantOf } from "../actors/tokens.ts";
import { beginningMs } from "../clocks.ts";
import type { CommittedTransaction, Interval, LinkStanding, StoredRow, Visibility } from "./history.ts";
import { demand } from "./violation.ts";

/** A busy process notices the end of a stream a few milliseconds late. */
const toleranceMs = 20;
/** An interval that ended this shortly before the end of the run may still be on its way to the store. */
const storedWithinMs = 1_000;

/**
 * Blind intervals (decisions 5): each ends after it begins. With right clocks they do not overlap, and none is missing:
 * whenever, by the ecosystem's record, the link's owner had no working stream, a blind interval covers that time.
 */
export function checkBlindIntervals(
  history: readonly CommittedTransaction[],
  standings: readonly LinkStanding[],
  visibility: Visibility | undefined,
): void {
  for (const { userId, link } of standings) {
    if (!link) continue;
    const deviceId = link.deviceId as number;
    const intervals = storedIntervals(history, deviceId);
    for (const { fromMs, toMs } of intervals) {
      demand(fromMs <= toMs, () => `link ${deviceId} was blind from ${fromMs} to ${toMs}, which is before`);
    }
    if (!visibility) continue;
    demandNoOverlap(deviceId, intervals);
    const { sinceMs } = (link.blindness as { sinceMs: number } | null) ?? { sinceMs: undefined };
    const lasting = sinceMs === undefined ? [] : [{ fromMs: sinceMs - beginningMs, toMs: visibility.endMs }];
    const missing = without(expectedIntervals(history, userId, deviceId, visibility), [...intervals, ...lasting]);
    const missed = missing.find(({ toMs }) => toMs === visibility.endMs || toMs < visibility.endMs - storedWithinMs);
    demand(
      missed === undefined,
      () => `link ${deviceId} could not be seen from ${missed?.fromMs} to ${missed?.toMs}, and no interval says so`,
    );
  }
}

function storedIntervals(history: readonly CommittedTransaction[], deviceId: number): Interval[] {
  const rows = new Map<string | number, StoredRow>();
  for (const { writes } of history) {
    for (const { table, key, after } of writes)
      if (table === `blind intervals/${deviceId}` && after) rows.set(key, after);
  }
  const intervals = [...rows.values()].map(({ fromMs, toMs }) => ({
    fromMs: (fromMs as number) - beginningMs,
    toMs: (toMs as number) - beginningMs,
  }));
  return intervals.sort((a, b) => a.fromMs - b.fromMs);
}

function demandNoOverlap(deviceId: number, intervals: readonly Interval[]): void {
  let last: Interval | undefined;
  for (const interval of intervals) {
    demand(
      last === undefined || interval.fromMs >= last.toMs,
      () =>
        `blind intervals of link ${deviceId} overlap: ${last?.fromMs} to ${last?.toMs}, ${interval.fromMs} to ${interval.toMs}`,
    );
    last = interval;
  }
}

/** From the link's creation to the end of the run: all times in which its owner had no working stream. */
function expectedIntervals(
  history: readonly CommittedTransaction[],
  userId: number,
  deviceId: number,
  { endMs, streams, frozen }: Visibility,
): Interval[] {
  const tenures = tenuresOf(history, deviceId, endMs);
  const seen = tenures.flatMap((tenure) => [
    ...streams.flatMap(({ userId: whose, token, node, firstMs, deafSinceMs, endedMs }) => {
      if (whose !== userId || node !== tenure.owner || grantOf(token) !== tenure.grant || firstMs === null) return [];
      return intersection(tenure, { fromMs: firstMs, toMs: Math.min(deafSinceMs ?? endMs, endedMs ?? endMs) });
    }),
    // A frozen node cannot record that its stream has ended, so the time is unknown.
    ...frozen.filter(({ node }) => node === tenure.owner).flatMap((interval) => intersection(tenure, interval)),
  ]);
  return without([{ fromMs: tenures[0]!.fromMs, toMs: endMs }], seen);
}

/** The periods in which each node owned the link, with the grant of its token. */
function tenuresOf(history: readonly CommittedTransaction[], deviceId: number, endMs: number) {
  const tenures: { fromMs: number; toMs: number; readonly owner: unknown; readonly grant: string }[] = [];
  for (const { atMs, writes } of history) {
    for (const { table, key, after } of writes) {
      if (table !== "links" || key !== deviceId || !after) continue;
      const grant = grantOf((after.sealedToken as string).split(": ")[1]!);
      const last = tenures.at(-1);
      if (last?.owner === after.owner && last?.grant === grant) continue;
      if (last) last.toMs = atMs;
      tenures.push({ fromMs: atMs, toMs: endMs, owner: after.owner, grant });
    }
  }
  return tenures;
}

function intersection(one: Interval, other: Interval): Interval[] {
  const [fromMs, toMs] = [Math.max(one.fromMs, other.fromMs), Math.min(one.toMs, other.toMs)];
  return fromMs < toMs ? [{ fromMs, toMs }] : [];
}

/** The intervals minus the others, without remainders below the tolerance. */
function without(intervals: readonly Interval[], others: readonly Interval[]): Interval[] {
  let left = [...intervals];
  for (const { fromMs, toMs } of others) {
    left = left.flatMap((stretch) => [
      ...intersection(stretch, { fromMs: Number.NEGATIVE_INFINITY, toMs: fromMs }),
      ...intersection(stretch, { fromMs: toMs, toMs: Number.POSITIVE_INFINITY }),
    ]);
  }
  return left.filter((stretch) => stretch.toMs - stretch.fromMs > toleranceMs);
}
