import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { eventuallySlowly } from "../nodes/fleet.ts";
import { startFaultProxy } from "../set-up/fault-proxy.ts";
import { ensurePostgresWithPrograms } from "../set-up/installed-postgres.ts";
import { startCluster } from "../set-up/postgres.ts";
import { startStandby } from "../set-up/postgres-standby.ts";
import { CrashWorld, smallServer } from "./crash-world.ts";

/** The deadline for everything after a promotion, on a busy machine. */
const settledWithinMs = 60_000;

/** The primary dies with writes that never reached its standby; the standby is promoted under three busy nodes. */
export async function survivePromotion(test: TestContext, { seed }: { readonly seed: number }): Promise<void> {
  const primary = await startCluster({ settings: smallServer, installation: ensurePostgresWithPrograms() });
  const standby = await startStandby(primary, smallServer);
  const way = await startFaultProxy(primary.url);
  const onPrimary = new URL(await primary.createDatabase());
  onPrimary.port = new URL(way.url).port;
  const world = await CrashWorld.start(test, { createDatabase: async () => String(onPrimary) }, { seed, ...size });
  test.after(async () => {
    await way.stop();
    await standby.stop();
    await primary.stop();
  });
  const { fleet, revoker, lamps } = world;
  const settled = () => AbortSignal.any([test.signal, AbortSignal.timeout(settledWithinMs)]);
  await world.writes(10);
  await Promise.all([revoker.stop(), world.holdHomes()]);
  const revokedLate = await revoker.issue();
  assert.ok(revokedLate);

  // Writes that are acknowledged up to here are on both servers; later ones never reach the standby.
  const kept = lamps.map(({ writer }) => [...writer.acknowledged]);
  await standby.caughtUp();
  standby.replication.mood = "closed";
  standby.replication.drop();
  await world.writes(10);
  await fleet.change(fleet.homes.map(({ accountId }) => accountId));
  await fleet.untilMirrored(settled());
  const issuedLate = await revoker.issue();
  assert.ok(issuedLate);
  assert.equal(await revoker.statusOf(issuedLate), 200);
  assert.ok(await revoker.revoke(revokedLate));

  await primary.killForGood();
  await standby.promote();
  way.turnTo(standby.cluster.url);
  way.drop();
  const promotedMs = performance.now();

  await world.writes(5);
  const writableMs = performance.now() - promotedMs;
  await eventuallySlowly(settled(), () => {
    for (const { owner, held, roaming } of lamps) {
      assert.ok(held.resyncs.length > 0, `the held stream of lamp ${owner.lamp} got no resync`);
      assert.ok(roaming.resyncs.length > 0, `the other stream of lamp ${owner.lamp} got no resync`);
    }
    assert.ok(world.webhooks.resyncs >= lamps.length, `${world.webhooks.resyncs} webhooks got a resync`);
  });
  for (const { service } of fleet.nodes) {
    await eventuallySlowly(settled(), async () => {
      assert.equal(await revoker.statusOf(issuedLate, service.baseUrl), 401, "a lost token is good");
    });
    // Its revocation is lost: both answers are right, an error is not.
    assert.ok([200, 401].includes(await revoker.statusOf(revokedLate, service.baseUrl)));
  }
  for (const { roaming } of lamps) roaming.reconnect();
  await world.writes(5);
  await world.holdWriters();
  let lost = 0;
  for (const [i, lamp] of lamps.entries()) {
    const committed = new Set(await world.history(test.signal, lamp));
    assert.deepEqual(
      kept[i]!.filter((value) => !committed.has(value)),
      [],
      "writes that both servers had are lost",
    );
    lost += lamp.writer.acknowledged.filter((value) => !committed.has(value)).length;
  }
  assert.ok(lost > 0, "nothing was lost: the standby was not behind");
  await world.untilAllKnown(test.signal);
  world.assertSound();
  // The ecosystem has sent nothing since: the nodes must notice by themselves that the store lacks data.
  await fleet.untilMirrored(settled());
  const mirroredMs = performance.now() - promotedMs;
  await world.stop();
  test.diagnostic(
    `seed ${seed}: ${lost} acknowledged writes lost with the primary; written again after ${seconds(writableMs)}, ` +
      `homes as they are at the latest after ${seconds(mirroredMs)}; ${world.figures()}`,
  );
}

const size = { links: 6, lamps: 3 };

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
