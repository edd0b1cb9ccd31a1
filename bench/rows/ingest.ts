import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Parts } from "../../src/service/parts.ts";
import { ratios, summary } from "../comparison.ts";
import { ScriptedEcosystem } from "../ecosystems/scripted-ecosystem.ts";
import type { House } from "../ecosystems/scripted-ecosystem-process.ts";
import { type Scenario, waves } from "../ecosystems/snapshot-scenarios.ts";
import { MeasuredProcess } from "../measured-process.ts";
import { type PreparedFolder, prepare, preparedFolder } from "../prepared-folder.ts";
import type { Result, Row } from "../row.ts";
import { addUsers } from "../users.ts";

/** Accounts of one size. Each wave sends one snapshot of every account; the interval leaves time to process it. */
interface Homes {
  readonly name: string;
  readonly tokens: readonly string[];
  readonly bytes: number;
  readonly everyMs: number;
}

const typicalHouse: House = { structures: [{ thermostats: 3, alarms: 3 }] };
/** Every slot of the model is taken. */
const fullStructure = { thermostats: 20, alarms: 18 };
const fullHouse: House = { structures: [fullStructure, fullStructure] };
const typicalHomes = 100;
const fullHomes = 20;
const linkedAtOnce = 20;
const warmUpRounds = 2;
const measuredRounds = 7;
/** After this time the last wave is processed. */
const settlingMs = 200;
const mostTries = 8;

/**
 * The number of snapshots of each scenario that change a shown field, and so cause a commit. Undefined: measured values
 * are committed at times of their own.
 */
const committed: Readonly<Record<Scenario, number | undefined>> = {
  "an ordinary day": 6,
  "one field that is shown": waves,
  "one field that is not shown": 0,
  "a measured value": undefined,
  "nothing new": 0,
};

/** CPU of a snapshot from the socket to its commit, compared with programs that only receive, parse and store it. */
export const ingest: Row = {
  name: "ingest",
  async measure(progress) {
    await using finishing = new AsyncDisposableStack();
    const ecosystem = finishing.use(await ScriptedEcosystem.start());
    const ecosystems = { nest: { protocol: "nest", apiUrl: `${ecosystem.url}/service` } };
    const folder = finishing.use(
      preparedFolder({ BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems), BREEZEWAY_LOG_LEVEL: "warn" }),
    );
    progress(`linking ${typicalHomes + fullHomes} accounts`);
    const typical = { name: "typical", everyMs: 80, ...(await ecosystem.addAccounts(typicalHomes, typicalHouse)) };
    const full = { name: "full", everyMs: 80, ...(await ecosystem.addAccounts(fullHomes, fullHouse)) };
    const tokens = [...typical.tokens, ...full.tokens];
    await prepare(folder, (parts) => linkAll(parts, tokens));
    const service = finishing.use(await MeasuredProcess.service(folder.settings));
    const start = async (name: string) => {
      const process = await reference(name, ecosystem.url, tokens, folder);
      await ecosystem.untilFollowed(name, tokens.length);
      return finishing.use(process);
    };
    const readers = {
      parsed: await start("parsed"),
      compared: await start("compared"),
      stored: await start("stored"),
    };
    await ecosystem.untilFollowed("service", tokens.length);

    progress("playing scenarios, to the service and to the references in turns");
    const measurements: readonly Measurement[] = [
      { homes: typical, scenario: "one field that is shown", reference: "stored", atMost: 2 },
      { homes: full, scenario: "one field that is shown", reference: "stored", atMost: 2 },
      { homes: typical, scenario: "one field that is not shown", reference: "parsed", atMost: 1.6 },
      { homes: typical, scenario: "nothing new", reference: "compared", atMost: 1.3 },
      { homes: full, scenario: "nothing new", reference: "compared", atMost: 1.3 },
      { homes: typical, scenario: "an ordinary day", reference: "parsed" },
      { homes: typical, scenario: "a measured value", reference: "parsed" },
    ];
    const figures = measurements.map(() => ({ ours: [] as number[], theirs: [] as number[] }));
    for (let round = 0; round < warmUpRounds + measuredRounds; round++) {
      for (const [index, { homes, scenario, reference }] of measurements.entries()) {
        const ours = await cpuOfCommitted(ecosystem, service, homes, scenario);
        const theirs = await cpuOf(ecosystem, readers[reference], reference, homes, scenario);
        if (round < warmUpRounds) continue;
        figures[index]!.ours.push(ours);
        figures[index]!.theirs.push(theirs);
      }
    }
    return measurements.map((one, index) => {
      const { ours, theirs } = figures[index]!;
      const shown = [ours, theirs].map((some) => `${summary(some).figure.toFixed(0)} us`);
      progress(`${one.homes.name}, ${one.scenario}: ${shown.join(" against ")}`);
      return resultOf(one, ratios(ours, theirs));
    });
  },
};

interface Measurement {
  readonly homes: Homes;
  readonly scenario: Scenario;
  readonly reference: keyof typeof references;
  readonly atMost?: number;
}

const references = {
  parsed: "node:http and JSON.parse",
  compared: "node:http and Buffer.equals",
  stored: "node:http, JSON.parse and two statements of node:sqlite",
} as const;

function resultOf({ homes, scenario, reference, atMost }: Measurement, figures: readonly number[]): Result {
  const size = `${(homes.bytes / 1000).toFixed(0)} kB`;
  return {
    what: `CPU of a snapshot of a ${homes.name} account (${size}), ${scenario}, from socket to commit`,
    reference: references[reference],
    ...summary(figures),
    unit: "x",
    bar: atMost === undefined ? null : { atMost },
  };
}

async function linkAll({ identity, store, federation }: Parts, tokens: readonly string[]): Promise<void> {
  const { tenantId } = await identity.addTenant({ name: "Bench" });
  const users = await store.transaction((tx) => addUsers(tx, tenantId, tokens.length));
  const waiting = tokens.entries();
  const linkSome = async () => {
    for (const [index, token] of waiting) await federation.link(users[index]!, "nest", token);
  };
  await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
}

/** Starts a reference, which reads the same streams. */
function reference(name: string, url: string, tokens: readonly string[], { path }: PreparedFolder) {
  const file = join(path, `${name}.json`);
  writeFileSync(file, JSON.stringify({ url: `${url}/${name}/`, tokens }));
  return MeasuredProcess.reference(`${name}-stream`, file);
}

/** Measures again, with longer intervals, until each change had its own commit: a busy service merges snapshots. */
async function cpuOfCommitted(
  ecosystem: ScriptedEcosystem,
  service: MeasuredProcess,
  homes: Homes,
  scenario: Scenario,
): Promise<number> {
  const commitsEach = committed[scenario];
  if (commitsEach === undefined) return cpuOf(ecosystem, service, "service", homes, scenario);
  const expected = commitsEach * homes.tokens.length;
  for (let tries = 1; ; tries++) {
    const before = await commitsOf(service);
    const cpu = await cpuOf(ecosystem, service, "service", { ...homes, everyMs: homes.everyMs * tries }, scenario);
    const commits = (await commitsOf(service)) - before;
    if (commits === expected) return cpu;
    const sentence = `${homes.name}, ${scenario}: ${commits} commits instead of ${expected}`;
    if (tries === mostTries) throw new Error(sentence);
    await sleep(settlingMs);
  }
}

/** The CPU time of one snapshot, in microseconds. */
async function cpuOf(
  ecosystem: ScriptedEcosystem,
  process: MeasuredProcess,
  reader: string,
  { tokens, everyMs }: Homes,
  scenario: Scenario,
): Promise<number> {
  const before = await process.usage();
  await ecosystem.play({ reader, tokens, scenario, everyMs });
  await sleep(settlingMs);
  const after = await process.usage();
  return (1_000 * (after.cpuMs - before.cpuMs)) / (waves * tokens.length);
}

/** The number of the ecosystem's commits so far. */
async function commitsOf({ url }: MeasuredProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^breezeway_commits_total\{by="ecosystem"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}
