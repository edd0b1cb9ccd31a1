import { loadavg } from "node:os";
import type { Rows } from "./attack.ts";
import type { Measured } from "./neighbour.ts";
import type { Sighting } from "./sightings.ts";
import { shownTally, type Tally } from "./tally.ts";

/** The measurements of one attack. */
export interface Figures {
  readonly attack: string;
  readonly before: Measured;
  readonly during: Measured;
  readonly after: Measured;
  readonly rss: { readonly before: number; readonly peak: number; readonly after: number };
  readonly descriptors: { readonly before: number; readonly peak: number; readonly after: number };
  readonly resources: { readonly before: Counts; readonly after: Counts };
  /** Bytes of live objects right after the attack, beyond those before. */
  readonly heapKept: number;
  readonly rows: Rows;
  readonly reached: Counts;
  readonly got: Tally;
  readonly sightings: readonly Sighting[];
  /** The exit code or the signal, if the service has died. */
  readonly died: number | string | undefined;
  /** Mechanisms that did not hold. */
  readonly broken: readonly string[];
}

type Counts = Readonly<Record<string, number>>;

/** The targets during an attack. */
const bars = { readMs: 250, emergencyMs: 2_000, rssMegabytes: 100 };

export function percentile(tookMs: readonly number[], share: number): number {
  const sorted = tookMs.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** One block per attack: the times, then what was left over and what the attacker got. */
export function shownFigures(figures: Figures): string {
  const { attack, before, during, after, rss, descriptors, rows, got, reached, resources, broken } = figures;
  const head = ["", "read p50", "p99", "max", "alarm p50", "p99", "rings", "sign-in p50", "max", "failed"];
  const lines = [
    [`${attack}`, ...head.slice(1)],
    ["  before", ...measuredCells(before)],
    ["  during", ...measuredCells(during)],
    ["  after", ...measuredCells(after)],
  ];
  const grown = Object.entries(rows)
    .filter(([, counts]) => counts.after !== counts.before)
    .map(([table, counts]) => `${table} ${counts.before} → ${counts.after}`);
  const readP99 = percentile(during.reads, 0.99);
  const alarmP99 = percentile(during.emergencies, 0.99);
  const rssGrown = megabytes(rss.peak - rss.before);
  return [
    ...aligned(lines),
    `  RSS ${megabytes(rss.before)} → ${megabytes(rss.peak)} → ${megabytes(rss.after)} MB, live objects +${megabytes(figures.heapKept)} MB, descriptors ${descriptors.before} → ${descriptors.peak} → ${descriptors.after}, load ${loadavg()[0]!.toFixed(1)}`,
    `  resources ${shownCounts(resources.before)} → ${shownCounts(resources.after)}`,
    `  rows ${grown.join(", ") || "unchanged"}`,
    `  the attacker got ${shownTally(got)}`,
    `  limits reached ${shownCounts(Object.fromEntries(Object.entries(reached).filter(([, count]) => count > 0))) || "none"}`,
    ...[...new Set([...during.failures, ...after.failures])].slice(0, 5).map((one) => `  failed: ${one}`),
    `  read p99 ${readP99.toFixed(0)} ms: ${bar(readP99, bars.readMs)}; alarm p99 ${alarmP99.toFixed(0)} ms: ${bar(alarmP99, bars.emergencyMs)}; RSS +${rssGrown} MB: ${bar(rssGrown, bars.rssMegabytes)}`,
    ...figures.sightings.map(({ message, size, fate }) => `  seen: ${message}, ${size}: ${fate}`),
    ...(figures.died === undefined ? [] : [`  THE SERVICE DIED: ${figures.died}`]),
    ...broken.map((one) => `  BROKEN: ${one}`),
    "",
  ].join("\n");
}

/** One line per attack: the figures beside their targets. */
export function shownSummary(all: readonly Figures[]): string {
  const head = ["attack", "read p50", `p99 (<= ${bars.readMs})`, "smoke p50", `p99 (<= ${bars.emergencyMs})`];
  const lines = all.map(({ attack, during, rss, heapKept, descriptors, resources, died, broken }) => {
    const [reads, alarms] = [during.reads, during.emergencies];
    const times = [reads, alarms].flatMap((some) =>
      [0.5, 0.99].map((share) => `${percentile(some, share).toFixed(0)} ms`),
    );
    const state = died === undefined ? `${broken.length} broken` : `DIED: ${died}`;
    const timersLeft = (resources.after.Timeout ?? 0) - (resources.before.Timeout ?? 0);
    const left = [
      `${megabytes(heapKept)} MB`,
      ...[descriptors.after - descriptors.before, timersLeft].map((count) => String(Math.max(0, count))),
    ].join(", ");
    return [attack, ...times, `+${megabytes(rss.peak - rss.before)} MB`, left, state];
  });
  return aligned([
    [...head, `RSS (+<= ${bars.rssMegabytes} MB)`, "left: objects, descriptors, timers", "mechanisms"],
    ...lines,
  ]).join("\n");
}

function measuredCells({ reads, emergencies, signIns, failures }: Measured): readonly string[] {
  const ms = (tookMs: number) => (Number.isNaN(tookMs) ? "-" : `${tookMs.toFixed(0)} ms`);
  return [
    ...[0.5, 0.99, 1].map((share) => ms(percentile(reads, share))),
    ...[0.5, 0.99].map((share) => ms(percentile(emergencies, share))),
    String(emergencies.length),
    ...[0.5, 1].map((share) => ms(percentile(signIns, share))),
    String(failures.length),
  ];
}

function bar(figure: number, atMost: number): string {
  return `${figure <= atMost ? "met" : "missed"} (at most ${atMost})`;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1_048_576);
}

function shownCounts(counts: Counts): string {
  return Object.entries(counts)
    .map(([what, count]) => `${what} ${count}`)
    .join(", ");
}

function aligned(lines: readonly (readonly string[])[]): readonly string[] {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines.map((line) =>
    line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]! + 2))).join(""),
  );
}
