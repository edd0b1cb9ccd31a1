import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { readConfig } from "../../src/config/config.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { startService } from "../../src/service/service.ts";
import { folderOf } from "../cli/made-folder.ts";
import { startCommitCutter } from "../set-up/commit-cutter.ts";
import { startFaultProxy } from "../set-up/fault-proxy.ts";
import { sharedCluster } from "../set-up/postgres.ts";
import { seededRandom } from "../set-up/seeded-random.ts";
import { killableNodes } from "../stories/killable-nodes.ts";
import { madeLamps } from "./made-lamps.ts";
import { RepeatingWriter, type Tally } from "./writer.ts";

/** Clients at work at the same time, each with its own lamp. */
const clients = 4;

/**
 * Two nodes on PostgreSQL. A proxy cuts their connections at the COMMIT of every second keyed write: mostly when the
 * server has got it, sometimes before. Each repetition goes to any of the nodes.
 */
export async function writeOverCutCommits(t: TestContext, writes: number): Promise<void> {
  const random = seededRandom(t);
  const database = await (await sharedCluster()).createDatabase();
  const folder = folderOf(t);
  const configOf = (databaseUrl: string) =>
    readConfig({
      flags: {},
      environment: {
        BREEZEWAY_DATA: folder,
        BREEZEWAY_PORT: "0",
        BREEZEWAY_DATABASE_URL: databaseUrl,
        BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true",
      },
    });
  const lamps = await madeLamps(configOf(database), clients);
  const cutter = await startCommitCutter(database, /^INSERT INTO idempotency_keys/);
  const nodes = [0, 1].map(() => startService(configOf(cutter.url), startLogging("silent")));
  t.after(async () => {
    cutter.fate = () => "pass";
    for (const node of nodes) await (await node).stop();
    await cutter.stop();
  });
  const urls = (await Promise.all(nodes)).map(({ baseUrl }) => baseUrl);
  cutter.fate = () => (random() < 0.5 ? "pass" : random() < 0.7 ? "after" : "before");
  const baseUrl = () => urls[Math.floor(random() * urls.length)]!;
  const writers = lamps.map((lamp) => new RepeatingWriter({ ...lamp, baseUrl, signal: t.signal }));
  await writeAll(writers, writes);
  cutter.fate = () => "pass";
  for (const writer of writers) await writer.assertOnce();
  const outcomes = sumOf(writers);
  t.diagnostic(`${writes} writes, COMMITs cut: ${JSON.stringify(cutter.cuts)}, answers: ${JSON.stringify(outcomes)}`);
  assert.ok(cutter.cuts.after > 0 && cutter.cuts.before > 0, "COMMITs were cut on both sides");
  assert.ok(outcomes.outcome_unknown! > 0 && outcomes["200 replayed"]! > 0, "lost answers were found again");
}

/**
 * One node on SQLite. The client's connection breaks in the middle of every second answer, and the process is killed so
 * many times, in turn right before and right after the COMMIT of a keyed write.
 */
export async function writeOverKills(t: TestContext, { writes, kills }: { writes: number; kills: number }) {
  const random = seededRandom(t);
  const folder = folderOf(t);
  const crashFile = join(folder, "crash-at-commit");
  const environment = {
    BREEZEWAY_DATA: join(folder, "data"),
    BREEZEWAY_PORT: "0",
    BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true",
    CRASH_FILE: crashFile,
  };
  const [lamp] = await madeLamps(readConfig({ flags: {}, environment }), 1);
  const nodes = await killableNodes(t, "sqlite", environment);
  const life = { preload: new URL("../set-up/crash-at-commit.ts", import.meta.url) };
  await nodes.start(life);
  const proxy = await startFaultProxy(nodes.baseUrl);
  t.after(() => proxy.stop());
  let killed = 0;
  let restarted: Promise<void> | undefined;
  const trouble = async () => {
    // The plan is gone when the process is about to die.
    if (!existsSync(crashFile)) await restarted;
    proxy.mood = random() < 0.5 ? "cut" : "open";
  };
  const writer = new RepeatingWriter({ ...lamp!, baseUrl: () => proxy.url, trouble, signal: t.signal });
  const every = Math.floor(writes / kills);
  for (let number = 0; number < writes; number++) {
    const dies = number % every === Math.floor(every / 2) && killed < kills;
    if (dies) writeFileSync(crashFile, killed % 2 === 0 ? "after" : "before");
    if (dies) restarted = nodes.killed().then(() => nodes.start(life));
    await writer.write(number);
    await restarted;
    if (dies) killed += 1;
  }
  proxy.mood = "open";
  await writer.assertOnce();
  t.diagnostic(`${writes} writes, ${killed} kills, answers: ${JSON.stringify(writer.tally)}`);
  assert.ok(writer.tally["200 replayed"]! > 0, "lost answers were found again");
}

async function writeAll(writers: readonly RepeatingWriter[], writes: number): Promise<void> {
  let next = 0;
  await Promise.all(
    writers.map(async (writer) => {
      while (next < writes) await writer.write(next++);
    }),
  );
}

function sumOf(writers: readonly RepeatingWriter[]): Tally {
  const sum: Tally = {};
  for (const { tally } of writers) {
    for (const [outcome, count] of Object.entries(tally)) sum[outcome] = (sum[outcome] ?? 0) + count;
  }
  return sum;
}
