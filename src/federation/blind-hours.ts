import type { DeviceId, UserId } from "../model/ids.ts";
import { justLinked } from "../model/just-linked.ts";
import { blindIntervalsKept } from "../store/tables/blind-intervals.ts";
import type { FoundLink, OverviewParts } from "./link-overview.ts";

/** For each hour the milliseconds in which some links were seen, blind, or in an unknown state, added up. */
export interface LinkHours {
  readonly seenMs: readonly number[];
  readonly blindMs: readonly number[];
  /** It can't be said whether the home was seen then. */
  readonly unknownMs: readonly number[];
  readonly blindLinks: number;
}

type Link = Pick<FoundLink, "userId" | "deviceId" | "state" | "confirmedMs" | "blindSinceMs" | "blindCause">;

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What the store knows about a link's past. */
export interface BlindPast {
  readonly deviceId: DeviceId;
  /** When the account was linked; null when that interval is no longer kept. */
  readonly linkedMs: number | null;
  readonly oldestMs: number;
  readonly kept: number;
}

const hourMs = 3_600_000;

/** The hours from `sinceMs` to now, the present one last. A link has no hours before it was linked. */
export async function blindHours(
  { store }: Pick<OverviewParts, "store">,
  links: readonly Link[],
  sinceMs: number,
  hours: number,
): Promise<LinkHours> {
  const devices: readonly { readonly userId: UserId; readonly deviceId: DeviceId }[] = links;
  const { nowMs, ended, pasts } = await store.read(async (tx) => ({
    nowMs: await tx.clock.nowMs(),
    ended: await tx.blindIntervals.hours(devices, sinceMs, hours),
    pasts: new Map((await tx.blindIntervals.pasts(devices)).map((past) => [past.deviceId, past])),
  }));
  const blind = Map.groupBy(ended, ({ deviceId }) => deviceId);
  const sums = { seenMs: zeros(hours), blindMs: zeros(hours), unknownMs: zeros(hours) };
  let blindLinks = 0;
  for (const link of links) {
    const { known, open, unknown } = spansOf(link, pasts.get(link.deviceId), sinceMs, nowMs);
    const endedMs = zeros(hours);
    for (const { hour, blindMs } of blind.get(link.deviceId) ?? []) endedMs[hour] = blindMs;
    let isBlind = false;
    for (let hour = 0; hour < hours; hour++) {
      const span = { fromMs: sinceMs + hour * hourMs, toMs: sinceMs + (hour + 1) * hourMs };
      const allMs = overlap(known, span);
      const blindMs = Math.min(allMs, endedMs[hour]! + overlap(open, span));
      const unknownMs = Math.min(allMs - blindMs, sum(unknown.map((one) => overlap(one, span))));
      sums.blindMs[hour]! += blindMs;
      sums.unknownMs[hour]! += unknownMs;
      sums.seenMs[hour]! += allMs - blindMs - unknownMs;
      isBlind ||= blindMs > 0;
    }
    if (isBlind) blindLinks++;
  }
  return { ...sums, blindLinks };
}

/** The time since which the link exists, its blind interval that has not ended, and the times that are unknown. */
function spansOf(link: Link, past: BlindPast | undefined, sinceMs: number, nowMs: number) {
  const { state, confirmedMs, blindSinceMs, blindCause } = link;
  const open = { fromMs: blindSinceMs ?? nowMs, toMs: nowMs };
  // The interval in which the account was linked is kept when it has ended. Until then the link has no past.
  const linkedMs = blindCause === justLinked ? open.fromMs : (past?.linkedMs ?? sinceMs);
  const isCut = past !== undefined && past.linkedMs === null && past.kept >= blindIntervalsKept;
  const unknown: readonly Span[] = [
    ...(isCut ? [{ fromMs: sinceMs, toMs: past.oldestMs }] : []),
    ...(state === "live" ? [] : [{ fromMs: confirmedMs, toMs: open.fromMs }]),
  ];
  return { known: { fromMs: linkedMs, toMs: nowMs }, open, unknown };
}

function overlap(one: Span, other: Span): number {
  return Math.max(0, Math.min(one.toMs, other.toMs) - Math.max(one.fromMs, other.fromMs));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function zeros(length: number): number[] {
  return new Array<number>(length).fill(0);
}
