import { beginningMs } from "./clocks.ts";
import type { CommittedTransaction, LinkStanding, Sights, StoredRow, Stretch } from "./history.ts";
import { demand } from "./violation.ts";

/** A process that is busy notices an end a few milliseconds late: events that are close together, some in a row. */
const toleranceMs = 20;

/**
 * The record of when a link could not be seen (decisions 5): each interval ends after it begins. Where all clocks go
 * right they do not overlap either, and nothing is missing: whenever by the ecosystem's own record the link's owner had
 * no stream that brought what happened, an interval says so.
 */
export function checkBlindIntervals(
  history: readonly CommittedTransaction[],
  standings: readonly LinkStanding[],
  sights: Sights | undefined,
): void {
  for (const { userId, link } of standings) {
    if (!link) continue;
    const deviceId = link.deviceId as number;
    const intervals = storedIntervals(history, deviceId);
    for (const { fromMs, toMs } of intervals) {
      demand(fromMs <= toMs, () => `link ${deviceId} was blind from ${fromMs} to ${toMs}, which is before`);
    }
    if (!sights) continue;
    demandApart(deviceId, intervals);
    const { sinceMs } = (link.blindness as { sinceMs: number } | null) ?? { sinceMs: undefined };
    const lasting = sinceMs === undefined ? [] : [{ fromMs: sinceMs - beginningMs, toMs: sights.endMs }];
    const [missed] = without(blindStretches(history, userId, deviceId, sights), [...intervals, ...lasting]);
    demand(
      missed === undefined,
      () => `link ${deviceId} could not be seen from ${missed?.fromMs} to ${missed?.toMs}, and no interval says so`,
    );
  }
}

function storedIntervals(history: readonly CommittedTransaction[], deviceId: number): Stretch[] {
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

function demandApart(deviceId: number, intervals: readonly Stretch[]): void {
  let last: Stretch | undefined;
  for (const interval of intervals) {
    demand(
      last === undefined || interval.fromMs >= last.toMs,
      () =>
        `blind intervals of link ${deviceId} overlap: ${last?.fromMs} to ${last?.toMs}, ${interval.fromMs} to ${interval.toMs}`,
    );
    last = interval;
  }
}

/** From the link's beginning to the end of the run: all but where its owner of the time had a stream that worked. */
function blindStretches(
  history: readonly CommittedTransaction[],
  userId: number,
  deviceId: number,
  { endMs, streams, frozen }: Sights,
): Stretch[] {
  const tenures = tenuresOf(history, deviceId, endMs);
  const seen = tenures.flatMap((tenure) => [
    ...streams.flatMap(({ userId: whose, token, node, firstMs, deafMs, endedMs }) => {
      if (whose !== userId || node !== tenure.owner || token !== tenure.token || firstMs === null) return [];
      return common(tenure, { fromMs: firstMs, toMs: Math.min(deafMs ?? endMs, endedMs ?? endMs) });
    }),
    // A node that stands still can't note that its stream has ended; nobody knows when it did.
    ...frozen.filter(({ node }) => node === tenure.owner).flatMap((stretch) => common(tenure, stretch)),
  ]);
  return without([{ fromMs: tenures[0]!.fromMs, toMs: endMs }], seen);
}

/** Who owned the link and with which token, from when to when. */
function tenuresOf(history: readonly CommittedTransaction[], deviceId: number, endMs: number) {
  const tenures: { fromMs: number; toMs: number; readonly owner: unknown; readonly token: string }[] = [];
  for (const { atMs, writes } of history) {
    for (const { table, key, after } of writes) {
      if (table !== "links" || key !== deviceId || !after) continue;
      const token = (after.sealedToken as string).split(": ")[1]!;
      const last = tenures.at(-1);
      if (last?.owner === after.owner && last?.token === token) continue;
      if (last) last.toMs = atMs;
      tenures.push({ fromMs: atMs, toMs: endMs, owner: after.owner, token });
    }
  }
  return tenures;
}

function common(one: Stretch, other: Stretch): Stretch[] {
  const [fromMs, toMs] = [Math.max(one.fromMs, other.fromMs), Math.min(one.toMs, other.toMs)];
  return fromMs < toMs ? [{ fromMs, toMs }] : [];
}

/** What is left of the stretches without the others, where that is more than can be told apart. */
function without(stretches: readonly Stretch[], others: readonly Stretch[]): Stretch[] {
  let left = [...stretches];
  for (const { fromMs, toMs } of others) {
    left = left.flatMap((stretch) => [
      ...common(stretch, { fromMs: Number.NEGATIVE_INFINITY, toMs: fromMs }),
      ...common(stretch, { fromMs: toMs, toMs: Number.POSITIVE_INFINITY }),
    ]);
  }
  return left.filter((stretch) => stretch.toMs - stretch.fromMs > toleranceMs);
}
