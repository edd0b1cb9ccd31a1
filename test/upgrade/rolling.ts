import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { schemaVersion } from "../../src/store/migrations.ts";
import { receiver } from "../events/receiver.ts";
import { sharedCluster } from "../set-up/postgres.ts";
import type { ChildService } from "../stories/child-service.ts";
import { KeptHome } from "./kept-home.ts";
import {
  assertCommandsMoveNoFan,
  assertGrowthIsSeen,
  assertIdsAreTaken,
  assertRevocationsAreShared,
  assertSignInsAreShared,
  type TwoVersions,
} from "./mixed-versions.ts";
import { create, createOlderHome, fillOlder } from "./older-home.ts";
import { addOwnValve, assertOwnCommandsAreShared, untilSilenceIsLogged } from "./own-things.ts";
import { type StoreRows, storeRows } from "./store-rows.ts";

const accounts = 6;

/** Replaces two nodes of the older version on one PostgreSQL by nodes of this version, one after the other. */
export async function replaceOlderNodes(test: TestContext, tree: string): Promise<void> {
  const databaseUrl = await (await sharedCluster()).createDatabase();
  const olderHome = await createOlderHome(test, { tree, databaseUrl, accounts });
  const rows = await storeRows(olderHome.environment);
  test.after(() => rows.end());
  const first = await olderHome.start("older");
  const olderSeals = await sealsAddresses(rows);
  const olderSends = await sendsCommands(rows);
  let second = await olderHome.start("older");
  const filled = await fillOlder(test, olderHome, first.baseUrl);
  const home = new KeptHome(test, olderHome, filled);
  const valve = await addOwnValve(first.baseUrl, home, olderHome, filled);
  const olderFrom = home.powers.length;
  const atOlder = await home.resume(second.baseUrl);

  // The node of this version upgrades the schema while the older nodes work.
  const olderIds = await nodeIds(rows);
  const upgraded = await olderHome.start("this");
  // By its id: the schema of the version before may be the same.
  const upgradedId = (await nodeIds(rows)).find((id) => !olderIds.includes(id));
  assert.ok(upgradedId, "the node of this version is not among the nodes");
  assert.deepEqual(await rows.all("SELECT MAX(step) AS step FROM schema_steps"), [{ step: schemaVersion }]);
  if (valve) await untilSilenceIsLogged(home, rows, valve);
  const three = [first.baseUrl, second.baseUrl, upgraded.baseUrl];
  const upgradedFrom = olderFrom - filled.missed.length;
  const atUpgraded = await home.resume(upgraded.baseUrl, filled.lastEventId);
  await home.untilReceived(atUpgraded, upgradedFrom);
  for (const url of three) await home.switchLamp(url, three);
  for (const url of three) {
    await home.assertHistoryIsThere(url);
    await home.assertCursorContinues(url);
    await home.assertCursorContinues(url, await home.firstPage(upgraded.baseUrl));
    await home.assertSinceWorks(url);
  }
  const versions: TwoVersions = [first.baseUrl, upgraded.baseUrl];
  await assertIdsAreTaken(home, versions);
  await assertSignInsAreShared(home, olderHome, versions);
  await assertRevocationsAreShared(home, olderHome, versions);
  await assertGrowthIsSeen(olderHome, filled, versions);
  if (valve) {
    await assertOwnCommandsAreShared(home, filled, valve, versions);
    const later = await addOwnValve(upgraded.baseUrl, home, olderHome, filled, "LaterValve");
    await assertOwnCommandsAreShared(home, filled, later!, versions);
  }
  const { access_token: refreshed } = await home.refresh(upgraded.baseUrl);
  for (const url of three) await home.assertTokensWork(url, refreshed);

  // Any node may deliver for a webhook that was added at the node of this version.
  const hook = await receiver(test);
  const hookFrom = home.powers.length;
  const request = { url: hook.url, deviceIds: [olderHome.lamp] };
  const { secret } = await create(`${upgraded.baseUrl}/v3/webhooks`, filled.tokens.access_token, request);
  const untilDelivered = async () => {
    await home.untilDelivered();
    await home.untilDelivered(hook, secret, hookFrom);
  };
  for (const url of three) await home.switchLamp(url, three);
  await untilDelivered();
  await untilBothOwnLinks(home, rows, upgradedId);
  for (const url of three) {
    await home.assertMirrors(url);
    await home.assertAlertsFire(url);
  }
  await home.untilReceived(atOlder, olderFrom);

  // A restarted older node works with the new schema.
  await end(second);
  second = await olderHome.start("older", Number(new URL(second.baseUrl).port));
  const restartedFrom = home.powers.length;
  for (const url of three) await home.switchLamp(url, three);
  const atRestarted = await home.resume(second.baseUrl, atOlder.lastEventId);
  await home.untilReceived(atRestarted, restartedFrom);
  await untilBothOwnLinks(home, rows, upgradedId);
  await home.assertAlertsFire(second.baseUrl);
  await assertCommandsMoveNoFan(home, olderHome, filled, { at: upgraded.baseUrl, olderSends });

  // The older nodes stop one after the other.
  await end(first);
  const two = [second.baseUrl, upgraded.baseUrl];
  for (const url of two) await home.switchLamp(url, two);
  await home.assertMirrors(second.baseUrl);
  await home.assertAlertsFire(upgraded.baseUrl);
  await home.untilReceived(atRestarted, restartedFrom);
  if (!olderSeals) await assertPlain(rows);
  await end(second);
  const movedFrom = home.powers.length;
  await home.switchLamp(upgraded.baseUrl);
  const moved = await home.resume(upgraded.baseUrl, atRestarted.lastEventId);
  await home.untilReceived(moved, movedFrom);
  await home.untilReceived(atUpgraded, upgradedFrom);
  await home.eventually(async () =>
    assert.deepEqual(await ownersOf(rows, upgradedId), { older: 0, upgraded: accounts }),
  );
  await home.assertMirrors(upgraded.baseUrl);
  await home.assertAlertsFire(upgraded.baseUrl);
  await untilDelivered();

  // Only nodes of this version are left: addresses are sealed, and a version that can't read them is refused.
  const another = await olderHome.start("this");
  const both = [upgraded.baseUrl, another.baseUrl];
  await home.untilSealed(rows);
  if (!olderSeals) await assert.rejects(olderHome.start("older"), /did not start \(3\)/);
  for (const url of both) {
    await home.switchLamp(url, both);
    await home.assertMirrors(url);
    await home.assertAlertsFire(url);
  }
  await home.assertFullDeviceOnlyShrinks(another.baseUrl);
  await home.assertLargeAlertOnlyShrinks(another.baseUrl);
  await untilDelivered();
  await home.untilReceived(moved, movedFrom);
  const messages = filled.hook.received.length + hook.received.length;
  test.diagnostic(`${home.powers.length} values of the lamp, ${messages} webhook messages, each once`);
}

async function end(node: ChildService): Promise<void> {
  node.process.kill("SIGTERM");
  assert.equal(await node.ended, 0);
}

async function nodeIds(rows: StoreRows): Promise<readonly string[]> {
  return (await rows.all("SELECT id FROM nodes")).map(({ id }) => String(id));
}

/** How many links the node of this version owns, and how many the other nodes. */
async function ownersOf(rows: StoreRows, upgradedId: string) {
  const owners = await rows.all("SELECT l.owner FROM links l JOIN nodes n ON n.id = l.owner");
  const upgraded = owners.filter(({ owner }) => owner === upgradedId).length;
  return { older: owners.length - upgraded, upgraded };
}

async function untilBothOwnLinks(home: KeptHome, rows: StoreRows, upgradedId: string): Promise<void> {
  await home.eventually(async () => {
    const { older, upgraded } = await ownersOf(rows, upgradedId);
    assert.ok(older > 0 && upgraded > 0, `${older} links at older nodes, ${upgraded} at the node of this version`);
    assert.equal(older + upgraded, accounts);
  });
}

/** Whether the running nodes can read sealed addresses of webhooks. */
async function sealsAddresses(rows: StoreRows): Promise<boolean> {
  const columns = await rows.all("SELECT 1 FROM information_schema.columns WHERE column_name = 'sealed_url'");
  return columns.length > 0;
}

/** Whether the running nodes know commands to things. */
async function sendsCommands(rows: StoreRows): Promise<boolean> {
  const tables = await rows.all("SELECT 1 FROM information_schema.tables WHERE table_name = 'thing_commands'");
  return tables.length > 0;
}

/** While older nodes may read them, addresses of webhooks are not sealed. */
async function assertPlain(rows: StoreRows): Promise<void> {
  const webhooks = await rows.all("SELECT url, sealed_url FROM webhooks");
  assert.equal(webhooks.length, 2);
  for (const { url, sealed_url: sealed } of webhooks) {
    assert.match(url, /hook$/);
    assert.equal(sealed, null);
  }
}
