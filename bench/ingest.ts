import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Parts } from "../src/service/parts.ts";
import { ratios, summary } from "./comparison.ts";
import { MeasuredProcess } from "./measured-process.ts";
import { addUsers } from "./people.ts";
import { type PreparedFolder, prepare, preparedFolder } from "./prepared-folder.ts";
import type { Result, Row } from "./row.ts";
import { ToldEcosystem } from "./told-ecosystem.ts";
import type { House } from "./told-ecosystem-process.ts";
import { type Story, waves } from "./told-stories.ts";

/** Accounts of one size. Each wave brings a snapshot of every one of them; the next comes when that is long done. */
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
/** The last wave is done by then. */
const settlingMs = 200;
const mostTries = 8;

/** So many snapshots of each story differ in something that the device shows, and are committed. */
const committed: Readonly<Record<Story, number>> = {
  "an ordinary day": 6,
  "one field that is shown": waves,
  "one field that is not shown": 0,
  "nothing new": 0,
};

/** What a snapshot costs from the socket to its commit, against a program that receives and reads it. */
export const ingest: Row = {
  name: "ingest",
  async measure(tell) {
    await using finishing = new AsyncDisposableStack();
    const ecosystem = finishing.use(await ToldEcosystem.start());
    const ecosystems = { nest: { protocol: "nest", apiUrl: `${ecosystem.url}/service` } };
    const folder = finishing.use(
      preparedFolder({ BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems), BREEZEWAY_LOG_LEVEL: "warn" }),
    );
    tell(`linking ${typicalHomes + fullHomes} accounts`);
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
    const readers = { parsed: await start("parsed"), compared: await start("compared") };
    await ecosystem.untilFollowed("service", tokens.length);

    tell("telling stories, to the service and to the references in turns");
    const told: readonly Told[] = [
      { homes: typical, story: "an ordinary day", reference: "parsed", atMost: 1 },
      { homes: typical, story: "one field that is shown", reference: "parsed", atMost: 0.8 },
      { homes: typical, story: "one field that is not shown", reference: "parsed", atMost: 0.8 },
      { homes: full, story: "an ordinary day", reference: "parsed", atMost: 0.5 },
      { homes: typical, story: "nothing new", reference: "compared", atMost: 1.2 },
    ];
    const figures = told.map(() => ({ ours: [] as number[], references: [] as number[] }));
    for (let round = 0; round < warmUpRounds + measuredRounds; round++) {
      for (const [place, { homes, story, reference }] of told.entries()) {
        const ours = await cpuOfCommitted(ecosystem, service, homes, story);
        const references = await cpuOf(ecosystem, readers[reference], reference, homes, story);
        if (round < warmUpRounds) continue;
        figures[place]!.ours.push(ours);
        figures[place]!.references.push(references);
      }
    }
    return told.map((one, place) => {
      const { ours, references } = figures[place]!;
      const shown = [ours, references].map((some) => `${summary(some).figure.toFixed(0)} us`);
      tell(`${one.homes.name}, ${one.story}: ${shown.join(" against ")}`);
      return resultOf(one, ratios(ours, references));
    });
  },
};

interface Told {
  readonly homes: Homes;
  readonly story: Story;
  readonly reference: "parsed" | "compared";
  readonly atMost: number;
}

function resultOf({ homes, story, reference, atMost }: Told, figures: readonly number[]): Result {
  const size = `${(homes.bytes / 1000).toFixed(0)} kB`;
  return {
    what: `CPU of a snapshot of a ${homes.name} account (${size}), ${story}, from socket to commit`,
    reference: reference === "parsed" ? "node:http and JSON.parse" : "node:http and Buffer.equals",
    ...summary(figures),
    unit: "x",
    bar: { atMost },
  };
}

async function linkAll({ identity, store, federation }: Parts, tokens: readonly string[]): Promise<void> {
  const { tenantId } = await identity.addTenant({ name: "Bench" });
  const users = await store.transaction((tx) => addUsers(tx, tenantId, tokens.length));
  const waiting = tokens.entries();
  const linkSome = async () => {
    for (const [place, token] of waiting) await federation.link(users[place]!, "nest", token);
  };
  await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
}

/** One of those that read the same streams and keep nothing. */
function reference(name: string, url: string, tokens: readonly string[], { path }: PreparedFolder) {
  const file = join(path, `${name}.json`);
  writeFileSync(file, JSON.stringify({ url: `${url}/${name}/`, tokens }));
  return MeasuredProcess.reference(`${name}-stream`, file);
}

/** With every change committed on its own: on a busy machine some are overtaken by the next, unless that comes later. */
async function cpuOfCommitted(
  ecosystem: ToldEcosystem,
  service: MeasuredProcess,
  homes: Homes,
  story: Story,
): Promise<number> {
  const expected = committed[story] * homes.tokens.length;
  for (let tries = 1; ; tries++) {
    const before = await commitsOf(service);
    const cpu = await cpuOf(ecosystem, service, "service", { ...homes, everyMs: homes.everyMs * tries }, story);
    const commits = (await commitsOf(service)) - before;
    if (commits === expected) return cpu;
    const sentence = `${homes.name}, ${story}: ${commits} commits instead of ${expected}`;
    if (tries === mostTries) throw new Error(sentence);
    await sleep(settlingMs);
  }
}

/** The CPU time of one snapshot, in microseconds. */
async function cpuOf(
  ecosystem: ToldEcosystem,
  process: MeasuredProcess,
  reader: string,
  { tokens, everyMs }: Homes,
  story: Story,
): Promise<number> {
  const before = await process.usage();
  await ecosystem.tell({ reader, tokens, story, everyMs });
  await sleep(settlingMs);
  const after = await process.usage();
  return (1_000 * (after.cpuMs - before.cpuMs)) / (waves * tokens.length);
}

/** Of the ecosystem, so far. */
async function commitsOf({ url }: MeasuredProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^breezeway_commits_total\{by="ecosystem"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}
