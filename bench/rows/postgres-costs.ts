import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Parts } from "../../src/service/parts.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { logStart } from "../../src/store/tables/log-position.ts";
import { startCluster } from "../../test/set-up/postgres.ts";
import { NoisyEcosystem } from "../ecosystems/noisy-ecosystem.ts";
import { MeasuredProcess } from "../measured-process.ts";
import { prepare, preparedFolder } from "../prepared-folder.ts";
import type { Result, Row } from "../row.ts";
import { addUsers } from "../users.ts";

const accounts = 300;
const linkedAtOnce = 20;
/** Accounts change this many times as often as in everyday life, until `changes` are committed. */
const speedUp = 20;
const changes = 3_000;
/** Entries that a busy node finds in one read of the log. */
const pageEntries = 100;
const readings = 10;
/** /proc counts CPU time in ticks of a hundredth of a second. */
const tickUs = 10_000;

/** What an account and a change cost on PostgreSQL: the input of the model in docs/scaling.md. */
export const postgresCosts: Row = {
  name: "postgres-costs",
  async measure(progress) {
    await using finishing = new AsyncDisposableStack();
    const cluster = await startCluster();
    finishing.defer(() => cluster.stop());
    const databaseUrl = await cluster.createDatabase();
    const ecosystem = finishing.use(await NoisyEcosystem.start());
    const ecosystems = { nest: { protocol: "nest", apiUrl: ecosystem.url } };
    const folder = finishing.use(
      preparedFolder({ BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems), BREEZEWAY_DATABASE_URL: databaseUrl }),
    );
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    finishing.defer(() => client.end());
    const server = serverOf(client);
    progress(`linking ${accounts} accounts`);
    const tokens = await ecosystem.addAccounts(accounts);
    const linked = await prepare(folder, async (parts) => {
      const empty = await server.bytes();
      await linkAll(parts, tokens);
      return (await server.bytes()).all - empty.all;
    });
    const service = finishing.use(await MeasuredProcess.service(folder.settings));
    await ecosystem.untilFollowed(accounts);
    progress(`${changes} changes at ${speedUp} times their everyday pace`);
    const ofChanges = await measureChanges(ecosystem, service, server);
    return [
      figure("tables and indexes of one linked account", linked / accounts / 1024, "kB"),
      ...ofChanges,
      ...(await measureReading(databaseUrl, server)),
    ];
  },
};

async function linkAll({ identity, store, federation }: Parts, tokens: readonly string[]): Promise<void> {
  const { tenantId } = await identity.addTenant({ name: "Bench" });
  const users = await store.transaction((tx) => addUsers(tx, tenantId, tokens.length));
  const unlinked = users.entries();
  const linkSome = async () => {
    for (const [index, userId] of unlinked) await federation.link(userId, "nest", tokens[index]!);
  };
  await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
}

/** Costs of a change from the ecosystem's stream to the commit, on one node without other load. */
async function measureChanges(
  ecosystem: NoisyEcosystem,
  service: MeasuredProcess,
  server: Server,
): Promise<readonly Result[]> {
  const look = async () => ({
    service: await service.usage(),
    server: await server.usage(),
    bytes: await server.bytes(),
    entries: await server.entries(),
  });
  await ecosystem.makeNoise(speedUp);
  const warm = (await server.entries()) + changes / 10;
  while ((await server.entries()) < warm) await sleep(100);
  const before = await look();
  while ((await server.entries()) < before.entries + changes) await sleep(100);
  const after = await look();
  await ecosystem.makeNoise(0);
  const each = (sum: number) => sum / (after.entries - before.entries);
  return [
    figure("CPU of PostgreSQL for one change", each(after.server.cpuUs - before.server.cpuUs), "us"),
    figure(
      "CPU of the node for one change, from the stream to the commit",
      each((after.service.cpuMs - before.service.cpuMs) * 1_000),
      "us",
    ),
    figure("write-ahead log of one change", each(after.server.walBytes - before.server.walBytes) / 1024, "kB"),
    figure("one entry of the history, with its indexes", each(after.bytes.log - before.bytes.log) / 1024, "kB"),
  ];
}

/** Costs of reading the log, as every node does for the event streams. */
async function measureReading(url: string, server: Server): Promise<readonly Result[]> {
  const store = await openPostgres({ url });
  try {
    const readAll = async () => {
      let read = 0;
      for (let after = logStart; ; ) {
        const page = await store.read((tx) => tx.log.tail(after, pageEntries));
        if (page.length === 0) return read;
        read += page.length;
        after = page.at(-1)!.position;
      }
    };
    await readAll();
    const before = { own: process.cpuUsage(), server: await server.usage() };
    let read = 0;
    for (let round = 0; round < readings; round++) read += await readAll();
    const own = process.cpuUsage(before.own);
    const cpuUs = (await server.usage()).cpuUs - before.server.cpuUs;
    return [
      figure("CPU of PostgreSQL for one entry that a node reads", cpuUs / read, "us"),
      figure("CPU of the node for reading one entry", (own.user + own.system) / read, "us"),
    ];
  } finally {
    await store.close();
  }
}

type Server = ReturnType<typeof serverOf>;

/** Figures of the PostgreSQL server: sizes, write-ahead log, CPU time of its processes. */
function serverOf(client: pg.Client) {
  return {
    async bytes(): Promise<{ readonly all: number; readonly log: number }> {
      const { rows } = await client.query(
        `SELECT COALESCE(SUM(pg_total_relation_size(oid)), 0)::float8 AS all,
           COALESCE(SUM(pg_total_relation_size(oid)) FILTER (WHERE relname = 'log'), 0)::float8 AS log
         FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
      );
      return rows[0];
    },
    /** The number of committed changes. */
    async entries(): Promise<number> {
      return (await client.query("SELECT COUNT(*)::int AS n FROM log WHERE kind = 'attribute'")).rows[0].n;
    },
    async usage(): Promise<{ readonly cpuUs: number; readonly walBytes: number }> {
      const { rows } = await client.query(
        "SELECT pid, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS wal FROM pg_stat_activity",
      );
      return { cpuUs: rows.reduce((sum, { pid }) => sum + cpuUsOf(pid), 0), walBytes: rows[0].wal };
    },
  };
}

function cpuUsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * tickUs;
}

function figure(what: string, measured: number, unit: Result["unit"]): Result {
  return { what, reference: null, figure: measured, unit, spread: null, bar: null };
}
