import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Parts } from "../../src/service/parts.ts";
import { startCluster } from "../../test/set-up/postgres.ts";
import { ratios, summary } from "../comparison.ts";
import { ScriptedEcosystem } from "../ecosystems/scripted-ecosystem.ts";
import { MeasuredProcess } from "../measured-process.ts";
import { serverCpu } from "../postgres-server.ts";
import { type PreparedFolder, prepare, preparedFolder } from "../prepared-folder.ts";
import type { Result, Row } from "../row.ts";
import { addUsers } from "../users.ts";

const accounts = 300;
const house = { structures: [{ thermostats: 3, alarms: 3 }] };
const linkedAtOnce = 20;
const warmUpRounds = 1;
const measuredRounds = 5;
/** After this time the work that follows a change is done: the log is read, hints are sent. */
const settlingMs = 300;
/** How long the service and the reference are watched without changes. */
const idleMs = 8_000;
/** After this time the work of starting and connecting is done. */
const startingMs = 15_000;
const longestWaitMs = 60_000;

/** A pace of changes. Alone: the pause between two changes is far longer than a change takes. */
interface Pace {
  readonly name: string;
  readonly accounts: number;
  readonly each: number;
  readonly perSecond: number;
  readonly bars: { readonly node: number; readonly database: number };
}

const paces: readonly Pace[] = [
  { name: "alone", accounts: 20, each: 10, perSecond: 50, bars: { node: 1.5, database: 1.2 } },
  { name: "at 1,000 a second", accounts, each: 10, perSecond: 1_000, bars: { node: 0.4, database: 0.4 } },
];

/** CPU time in microseconds. */
interface Cost {
  readonly nodeUs: number;
  readonly databaseUs: number;
}

/** The tables of the reference: what its transaction needs, with the same indexes of the log for readers and history. */
const referenceTables = `
  CREATE TABLE users (id INTEGER PRIMARY KEY);
  CREATE TABLE devices (
    user_id INTEGER, device_id INTEGER, last_time_ms BIGINT NOT NULL, PRIMARY KEY (user_id, device_id));
  CREATE TABLE attributes (user_id INTEGER, device_id INTEGER, number INTEGER, value TEXT, time_ms BIGINT NOT NULL,
    PRIMARY KEY (user_id, device_id, number));
  CREATE TABLE log (user_id INTEGER NOT NULL, id BIGINT GENERATED ALWAYS AS IDENTITY,
    xid XID8 NOT NULL DEFAULT pg_current_xact_id(), device_id INTEGER, kind TEXT NOT NULL, time_ms BIGINT NOT NULL,
    body TEXT NOT NULL);
  CREATE INDEX log_by_transaction ON log (xid, id);
  CREATE INDEX log_of_device ON log (user_id, device_id, time_ms);
  INSERT INTO users SELECT n FROM generate_series(1, ${accounts}) n;
  INSERT INTO devices SELECT n, n, 0 FROM generate_series(1, ${accounts}) n;
  INSERT INTO attributes SELECT n, n, a, 'home', 0 FROM generate_series(1, ${accounts}) n, generate_series(1, 50) a;`;

/** What one change costs on PostgreSQL, from the ecosystem's stream to the commit, compared with the least transaction. */
export const postgresChanges: Row = {
  name: "postgres-changes",
  async measure(progress) {
    await using finishing = new AsyncDisposableStack();
    const cluster = await startCluster();
    finishing.defer(() => cluster.stop());
    const databaseUrl = await cluster.createDatabase();
    const ecosystem = finishing.use(await ScriptedEcosystem.start());
    const ecosystems = { nest: { protocol: "nest", apiUrl: `${ecosystem.url}/service` } };
    const folder = finishing.use(
      preparedFolder({
        BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems),
        BREEZEWAY_DATABASE_URL: databaseUrl,
        BREEZEWAY_LOG_LEVEL: "warn",
      }),
    );
    progress(`linking ${accounts} accounts`);
    const { tokens } = await ecosystem.addAccounts(accounts, house);
    await prepare(folder, (parts) => linkAll(parts, tokens));
    const service = finishing.use(await MeasuredProcess.service(folder.settings));
    await ecosystem.untilFollowed("service", accounts);
    const reference = finishing.use(await startReference(folder, await cluster.createDatabase()));
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    finishing.defer(() => client.end());
    const databaseUs = await serverCpu(client);
    progress("the CPU without changes, which is no cost of a change");
    await sleep(startingMs);
    const idle = [await idleOf(service, databaseUs), await idleOf(reference, databaseUs)] as const;
    const shown = idle.map(({ nodeUs, databaseUs: us }) => `${nodeUs.toFixed(0)} us and ${us.toFixed(0)} us`);
    progress(`in each second, of the node and of the database: ${shown.join(", beside a reference with ")}`);

    const streamed = (pace: Pace) => streamToService(ecosystem, service, tokens, pace);
    const made = async ({ accounts: some, each, perSecond }: Pace) =>
      Number(await (await fetch(`${reference.url}/${some * each}/${some}/${perSecond}`)).text());
    const results: Result[] = [];
    for (const pace of paces) {
      progress(`${pace.accounts * pace.each} changes ${pace.name}, of the service and of the reference in turns`);
      const [ours, references]: [Cost[], Cost[]] = [[], []];
      for (let round = 0; round < warmUpRounds + measuredRounds; round++) {
        const costs = [
          await costOf(service, databaseUs, idle[0], () => streamed(pace)),
          await costOf(reference, databaseUs, idle[1], () => made(pace)),
        ] as const;
        if (round < warmUpRounds) continue;
        ours.push(costs[0]);
        references.push(costs[1]);
      }
      results.push(...resultsOf(pace, ours, references, progress));
    }
    return results;
  },
};

async function linkAll({ identity, store, federation }: Parts, tokens: readonly string[]): Promise<void> {
  const { tenantId } = await identity.addTenant({ name: "Bench" });
  const users = await store.transaction((tx) => addUsers(tx, tenantId, tokens.length));
  const waiting = tokens.entries();
  const linkSome = async () => {
    for (const [index, token] of waiting) await federation.link(users[index]!, "nest", token);
  };
  await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
}

function startReference({ path }: PreparedFolder, url: string): Promise<MeasuredProcess> {
  const file = join(path, "reference.json");
  writeFileSync(file, JSON.stringify({ url, tables: referenceTables }));
  return MeasuredProcess.reference("postgres-change", file);
}

/** Sends the changes and waits until all of them are committed. Returns their number. */
async function streamToService(
  ecosystem: ScriptedEcosystem,
  service: MeasuredProcess,
  tokens: readonly string[],
  { accounts: some, each, perSecond }: Pace,
): Promise<number> {
  const expected = (await commitsOf(service)) + some * each;
  await ecosystem.stream({ reader: "service", tokens: tokens.slice(0, some), each, perSecond });
  const untilMs = performance.now() + longestWaitMs;
  for (;;) {
    const missing = expected - (await commitsOf(service));
    if (missing === 0) return some * each;
    if (performance.now() > untilMs) throw new Error(`${missing} of ${some * each} changes were not committed`);
    await sleep(200);
  }
}

/** The number of the ecosystem's commits so far. */
async function commitsOf({ url }: MeasuredProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^breezeway_commits_total\{by="ecosystem"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

async function spentIn(
  process: MeasuredProcess,
  databaseUs: () => number,
  work: () => Promise<unknown>,
): Promise<Cost & { readonly seconds: number }> {
  const before = { node: await process.usage(), databaseUs: databaseUs(), atMs: performance.now() };
  await work();
  const after = await process.usage();
  return {
    nodeUs: 1_000 * (after.cpuMs - before.node.cpuMs),
    databaseUs: databaseUs() - before.databaseUs,
    seconds: (performance.now() - before.atMs) / 1_000,
  };
}

/** What one second without changes costs: a node looks for work of other nodes, and the database serves it. */
async function idleOf(process: MeasuredProcess, databaseUs: () => number): Promise<Cost> {
  const spent = await spentIn(process, databaseUs, () => sleep(idleMs));
  return { nodeUs: spent.nodeUs / spent.seconds, databaseUs: spent.databaseUs / spent.seconds };
}

/** What one change costs beyond the time without changes. */
async function costOf(
  process: MeasuredProcess,
  databaseUs: () => number,
  idle: Cost,
  work: () => Promise<number>,
): Promise<Cost> {
  let changes = 0;
  const spent = await spentIn(process, databaseUs, async () => {
    changes = await work();
    await sleep(settlingMs);
  });
  return {
    nodeUs: (spent.nodeUs - idle.nodeUs * spent.seconds) / changes,
    databaseUs: (spent.databaseUs - idle.databaseUs * spent.seconds) / changes,
  };
}

function resultsOf(
  { name, bars }: Pace,
  ours: readonly Cost[],
  references: readonly Cost[],
  progress: (sentence: string) => void,
): readonly Result[] {
  return (["node", "database"] as const).map((side) => {
    const of = (costs: readonly Cost[]) =>
      costs.map(({ nodeUs, databaseUs }) => (side === "node" ? nodeUs : databaseUs));
    const shown = [of(ours), of(references)].map((some) => `${summary(some).figure.toFixed(0)} us`);
    progress(`${name}, CPU of the ${side}: ${shown.join(" against ")}`);
    return {
      what: `CPU of the ${side} for one change on PostgreSQL ${name}, from socket to commit`,
      reference: "pg, two pipelined round trips",
      ...summary(ratios(of(ours), of(references))),
      unit: "x",
      bar: { atMost: bars[side] },
    };
  });
}
