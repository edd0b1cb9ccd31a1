import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { assertMirrors } from "./expected-attributes.ts";
import { assertIndexHistory } from "./index-history.ts";
import { killableDeployment } from "./killable-deployment.ts";
import { type Deployment, eventually } from "./world.ts";

const stepsAtOnce = 4;

/** Random steps in an account while the service is killed now and then; then the log must follow the rules of indexes. */
export async function followIndexes(
  t: TestContext,
  plan: { readonly database: Deployment; readonly seed: number; readonly kills: number; readonly stepsBetween: number },
): Promise<void> {
  const house = await killableDeployment(t, plan.database);
  const { simulator, client, environment, nodes } = house;
  const account = simulator.addAccount({
    seed: plan.seed,
    structures: [{ thermostats: 3, alarms: 3 }, { thermostats: 2 }],
  });
  await nodes.start();
  await house.signIn();
  const { body } = await client.federate("POST", account.token);
  const deviceId = Number(body.DeviceId);
  const isMirrored = async () => {
    const { body: map } = await client.largeStrings(deviceId);
    assertMirrors(await client.device(deviceId), simulator.document(account.accountId), map);
  };
  for (let round = 0; round < plan.kills; round++) {
    for (let step = 0; step < plan.stepsBetween; step += stepsAtOnce) {
      await simulator.playScene(account.accountId, { scene: "random", steps: stepsAtOnce, separately: true });
      // Most rounds, and all kills, interrupt work in progress.
      if (step % (5 * stepsAtOnce) === 0) await eventually(t.signal, isMirrored);
    }
    await nodes.kill();
    await nodes.start();
    await eventually(t.signal, isMirrored);
  }
  await nodes.stop();
  const { BREEZEWAY_DATABASE_URL: url, BREEZEWAY_DATA: folder } = environment;
  const store = url ? await openPostgres({ url }) : await openSqlite({ folder: folder!, nowMs: Date.now });
  t.after(() => store.close());
  const log = await store.read((tx) => tx.log.tail({ transaction: 0, id: 0 }, 100_000));
  const counts = assertIndexHistory(log);
  t.diagnostic(`${log.length} log entries, ${counts.assigned} indexes assigned, ${counts.takenAway} taken away`);
  // Devices must have been added and removed, or the test has shown nothing.
  assert.ok(counts.assigned > (plan.kills * plan.stepsBetween) / 100);
}
