import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { startCluster } from "../set-up/postgres.ts";
import { abortTransactions, holdWrites } from "./aborted-transactions.ts";
import { CrashWorld, smallServer, untilKnown } from "./crash-world.ts";

export interface PostgresCrashPlan {
  readonly seed: number;
  readonly kills: number;
}

/** PostgreSQL is killed again and again under three busy nodes: nothing is lost without a `resync`. */
export async function surviveDatabaseCrashes(test: TestContext, { seed, kills }: PostgresCrashPlan): Promise<void> {
  const startedMs = performance.now();
  const cluster = await startCluster({ settings: smallServer });
  const world = await CrashWorld.start(test, cluster, { seed, links: 6, lamps: 3 });
  test.after(() => cluster.stop());
  const faults = { busy: 0, quiet: 0, terminated: 0 };
  for (let killed = 0; killed < kills; ) {
    await world.writes(2 + Math.floor(world.random() * 6));
    const chance = world.random();
    if (chance < 0.2) {
      await terminateSome(world);
      faults.terminated += 1;
      continue;
    }
    // The first kill of a short run is a quiet one: only those can bring ids back.
    if (chance < 0.6 || killed === 0) {
      await killWhileQuiet(test.signal, world, () => cluster.kill());
      faults.quiet += 1;
    } else {
      await killUnderLoad(world, () => cluster.kill());
      faults.busy += 1;
    }
    killed += 1;
    world.assertSound();
  }
  await world.writes(5);
  await world.holdWriters();
  for (const lamp of world.lamps) {
    const committed = new Set(await world.history(test.signal, lamp));
    const lost = lamp.writer.acknowledged.filter((value) => !committed.has(value));
    assert.deepEqual(lost, [], "acknowledged writes are lost");
  }
  await world.untilAllKnown(test.signal);
  await world.assertRevoked();
  world.assertSound();
  assert.deepEqual(world.webhooks.repetitions, []);
  await world.stop();
  await world.fleet.untilMirrored(test.signal);
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  test.diagnostic(
    `seed ${seed}: ${faults.busy} kills under load, ${faults.quiet} while quiet, ` +
      `${faults.terminated} times most connections terminated, in ${seconds} s; ${world.figures()}`,
  );
}

/** Kills the server during writes and rollbacks. */
async function killUnderLoad({ fleet, lamps, random }: CrashWorld, kill: () => Promise<void>): Promise<void> {
  for (const { roaming } of lamps) if (random() < 0.5) roaming.reconnect();
  void abortTransactions(fleet.databaseUrl, 50);
  await kill();
}

/**
 * Ids that only aborted transactions used are assigned again after a crash: a client whose stream began after such an id
 * would miss the next events. Half of these clients keep their streams open, half reconnect later.
 */
async function killWhileQuiet(signal: AbortSignal, world: CrashWorld, kill: () => Promise<void>): Promise<void> {
  await Promise.all([world.holdWriters(), world.holdHomes()]);
  const before = await world.histories(signal);
  const held = await holdWrites(world.fleet.databaseUrl);
  await abortTransactions(world.fleet.databaseUrl, 10 + Math.floor(world.random() * 20));
  const [holding, leaving] = await Promise.all([world.newcomers(before), world.newcomers(before)]);
  for (const newcomer of leaving) newcomer.goAway();
  await kill();
  await held.end().catch(() => undefined);
  world.releaseWriters();
  world.releaseHomes();
  // Enough writes to pass the ids of the aborted transactions.
  await world.writes(3 + Math.floor(world.random() * 6));
  for (const newcomer of leaving) newcomer.comeBack();
  await world.holdWriters();
  const after = await world.histories(signal);
  for (const newcomers of [holding, leaving]) {
    const client = newcomers === holding ? "a stream that began before a kill" : "a client that resumed after a kill";
    const known = newcomers.map(({ values }) => values);
    await untilKnown(signal, client, after, known);
    await Promise.all(newcomers.map((newcomer) => newcomer.stop()));
    assert.deepEqual(
      newcomers.flatMap(({ violations }) => violations),
      [],
    );
  }
  world.releaseWriters();
}

/** The server terminates most connections at once, in the middle of their work. */
async function terminateSome({ fleet }: CrashWorld): Promise<void> {
  const text = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.8`;
  await fleet.sql.query(text).catch(() => undefined);
}
