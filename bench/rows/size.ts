import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { lineCharts } from "../line-charts.ts";
import { ReportedLag } from "../reported-lag.ts";
import type { Result, Row } from "../row.ts";
import { type SizedDeployment, sizedDeployment } from "../sized-deployment.ts";

/**
 * `LINKS`: the number of links, 18,000 on one node and 30,000 on three by default. `NODES=1` or `NODES=3` measures one
 * of the two. `MINUTES`: how long the homes live. Each link takes an open file of its node and one of the ecosystem.
 */
const plans = [
  { nodes: 1, links: Number(process.env.LINKS ?? 18_000), file: "size-one-node.svg" },
  { nodes: 3, links: Number(process.env.LINKS ?? 30_000), file: "size-three-nodes.svg" },
].filter(({ nodes }) => process.env.NODES === undefined || Number(process.env.NODES) === nodes);
const minutes = Number(process.env.MINUTES ?? 10);
/** Each home sends a snapshot once a minute on average. */
const everyMs = 60_000;
const sampleMs = 5_000;
/** After this time the work of opening the streams is done. */
const settlingMs = 15_000;
/** How long the last changes may take until they are reported. */
const longestLagMs = 60_000;
const results = new URL("../results/", import.meta.url);

type Plan = (typeof plans)[number];

interface Sample {
  readonly atMs: number;
  /** Of each node. */
  readonly rssBytes: readonly number[];
  readonly cpuMs: readonly number[];
  readonly databaseCpuMs: number;
  readonly storeBytes: number;
  /** Of the changes that were reported since the sample before. */
  readonly lagsMs: readonly number[];
}

/** Memory, CPU, lag and growth of a deployment with very many links whose homes live. */
export const size: Row = {
  name: "size",
  isOnlyByName: true,
  async measure(progress) {
    const all: Result[] = [];
    for (const plan of plans) all.push(...(await measurePlan(plan, progress)));
    return all;
  },
};

async function measurePlan(plan: Plan, progress: (sentence: string) => void): Promise<readonly Result[]> {
  await using deployment = await sizedDeployment(plan, progress);
  progress(`all streams were open after ${(deployment.startedWithinMs / 1_000).toFixed(1)} s`);
  await sleep(settlingMs);
  const { samples, snapshots } = await liveAndSample(deployment, progress);
  const title = titleOf(plan, samples);
  mkdirSync(results, { recursive: true });
  writeFileSync(new URL(plan.file, results), plotOf(title, plan, samples));
  progress(`${title}: bench/results/${plan.file}`);
  return resultsOf(plan, deployment, samples, snapshots);
}

async function liveAndSample(
  { ecosystems, nodes, store, accountOf, accessToken }: SizedDeployment,
  progress: (sentence: string) => void,
) {
  using lag = await ReportedLag.follow(nodes[0]!.url, accessToken, accountOf);
  const look = async (): Promise<Sample> => {
    const usages = await Promise.all(nodes.map((node) => node.usage()));
    for (const ecosystem of ecosystems) lag.sent((await ecosystem.sent()).sent);
    return {
      atMs: performance.now(),
      rssBytes: usages.map(({ rssBytes }) => rssBytes),
      cpuMs: usages.map(({ cpuMs }) => cpuMs),
      databaseCpuMs: store.cpuUs() / 1_000,
      storeBytes: await store.bytes(),
      lagsMs: lag.take(),
    };
  };
  const samples = [await look()];
  for (const ecosystem of ecosystems) await ecosystem.live(everyMs);
  for (const untilMs = performance.now() + minutes * 60_000; performance.now() < untilMs; ) {
    await sleep(sampleMs);
    samples.push(await look());
    if (samples.length % 12 === 0)
      progress(`${Math.round((samples.length * sampleMs) / 1_000)} s, ${lag.missing} changes on their way`);
  }
  for (const ecosystem of ecosystems) await ecosystem.live(null);
  const last: number[] = [];
  for (const untilMs = performance.now() + longestLagMs; ; ) {
    last.push(...(await look()).lagsMs);
    if (lag.missing === 0) break;
    if (performance.now() > untilMs) throw new Error(`${lag.missing} changes were not reported`);
    await sleep(250);
  }
  const final = samples.pop()!;
  samples.push({ ...final, lagsMs: [...final.lagsMs, ...last] });
  let snapshots = 0;
  for (const ecosystem of ecosystems) snapshots += (await ecosystem.sent()).snapshots;
  return { samples, snapshots };
}

/** The shares of one core in percent, between each sample and the one before. */
function shares(samples: readonly Sample[], cpuMsOf: (sample: Sample) => number): readonly number[] {
  return samples
    .slice(1)
    .map((sample, i) => (100 * (cpuMsOf(sample) - cpuMsOf(samples[i]!))) / (sample.atMs - samples[i]!.atMs));
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function resultsOf(
  { links, nodes }: Plan,
  { emptyRssBytes, startedWithinMs }: SizedDeployment,
  samples: readonly Sample[],
  snapshots: number,
): readonly Result[] {
  const [first, last] = [samples[0]!, samples.at(-1)!];
  const where = `${links} living links on ${nodes === 1 ? "one node" : `${nodes} nodes`}`;
  const lags = samples.flatMap(({ lagsMs }) => lagsMs);
  const ofNodes = Array.from({ length: nodes }, (_, node) => shares(samples, ({ cpuMs }) => cpuMs[node]!));
  const seconds = (last.atMs - first.atMs) / 1_000;
  const used = (of: (sample: Sample) => number) => of(last) - of(first);
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  const range = (values: readonly number[]) => [Math.min(...values), Math.max(...values)] as const;
  const plain = { reference: null, spread: null, bar: null };
  return [
    {
      ...plain,
      what: `RSS of each of ${where}, at the end`,
      reference: "a service without links",
      figure: (sum(last.rssBytes) - nodes * emptyRssBytes) / links / 1_024,
      unit: "kB",
    },
    {
      ...plain,
      what: `CPU of a node, of one core, ${where}, ${(snapshots / seconds).toFixed(0)} snapshots a second in all`,
      figure: mean(ofNodes.flat()),
      unit: "%",
      spread: range(ofNodes.flat()),
    },
    {
      ...plain,
      what: `CPU of the nodes for one snapshot, ${where}`,
      figure: (1_000 * used(({ cpuMs }) => sum(cpuMs))) / snapshots,
      unit: "us",
    },
    ...(nodes === 1
      ? []
      : [
          {
            ...plain,
            what: `CPU of the database for one snapshot, ${where}`,
            figure: (1_000 * used(({ databaseCpuMs }) => databaseCpuMs)) / snapshots,
            unit: "us" as const,
          },
        ]),
    {
      ...plain,
      what: `median from a change in the ecosystem to its event, ${where}`,
      figure: quantile(lags, 0.5),
      unit: "ms",
    },
    {
      ...plain,
      what: `p99 of the same, of ${lags.length} changes`,
      figure: quantile(lags, 0.99),
      unit: "ms",
      spread: range(lags),
    },
    {
      ...plain,
      what: `growth of the store for each link in an hour, ${where}`,
      figure: (used(({ storeBytes }) => storeBytes) / 1_024 / links / seconds) * 3_600,
      unit: "kB",
    },
    { ...plain, what: `from the start until all streams are open, ${where}`, figure: startedWithinMs, unit: "ms" },
  ];
}

function titleOf({ links, nodes }: Plan, samples: readonly Sample[]): string {
  const seconds = Math.round((samples.at(-1)!.atMs - samples[0]!.atMs) / 1_000);
  const where = nodes === 1 ? "one node, SQLite" : `${nodes} nodes, PostgreSQL`;
  const machine = `${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(0)}`;
  return `${links.toLocaleString("en-US")} links, ${where}, ${seconds} s (${machine})`;
}

function plotOf(title: string, { nodes }: Plan, samples: readonly Sample[]): string {
  const shown = samples.slice(1);
  const megabytes = (bytes: number) => bytes / 1_024 ** 2;
  const ofNodes = (values: (node: number) => readonly number[]) =>
    Array.from({ length: nodes }, (_, node) => ({
      name: nodes === 1 ? "node" : `node ${node + 1}`,
      values: values(node),
    }));
  const lags = (part: number) => shown.map(({ lagsMs }) => quantile(lagsMs, part));
  return lineCharts(
    title,
    shown.map(({ atMs }) => (atMs - samples[0]!.atMs) / 1_000),
    [
      {
        title: "Memory",
        unit: "MB",
        lines: ofNodes((node) => shown.map(({ rssBytes }) => megabytes(rssBytes[node]!))),
      },
      {
        title: "CPU",
        unit: "% of one core",
        lines: [
          ...ofNodes((node) => shares(samples, ({ cpuMs }) => cpuMs[node]!)),
          ...(nodes === 1 ? [] : [{ name: "database", values: shares(samples, ({ databaseCpuMs }) => databaseCpuMs) }]),
        ],
      },
      {
        title: "From a change in the ecosystem to its event",
        unit: "ms",
        lines: [
          { name: "median", values: lags(0.5) },
          { name: "99th percentile", values: lags(0.99) },
        ],
      },
      {
        title: "Store",
        unit: "MB",
        lines: [{ name: "store", values: shown.map(({ storeBytes }) => megabytes(storeBytes)) }],
      },
    ],
  );
}
