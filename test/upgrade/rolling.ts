import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { schemaVersion } from "../../src/store/migrations.ts";
import { send } from "../events/made-home.ts";
import { receiver } from "../events/receiver.ts";
import { sharedCluster } from "../set-up/postgres.ts";
import type { ChildService } from "../stories/child-service.ts";
import { KeptHome } from "./kept-home.ts";
import { create, type FilledHome, fillOlder, type MadeHome, madeByOlder, put, signIn } from "./older-home.ts";
import { type StoreRows, storeRows } from "./store-rows.ts";

/** Two nodes of the older version on one PostgreSQL are replaced by nodes of this version, one after the other. */
export async function replaceOlderNodes(test: TestContext, tree: string): Promise<void> {
  const databaseUrl = await (await sharedCluster()).createDatabase();
  const made = await madeByOlder(test, { tree, databaseUrl, accounts: 6 });
  const rows = await storeRows(made.environment);
  test.after(() => rows.end());
  const first = await made.start("older");
  let second = await made.start("older");
  const filled = await fillOlder(test, made, first.baseUrl);
  const home = new KeptHome(test, made, filled);
  const heardFrom = filled.powers.length;
  const atOlder = await home.resume(second.baseUrl);

  // The node of this version changes the schema while the older nodes work.
  const upgraded = await made.start("this");
  assert.deepEqual(await rows.all("SELECT MAX(step) AS step FROM schema_steps"), [{ step: schemaVersion }]);
  const three = [first.baseUrl, second.baseUrl, upgraded.baseUrl];
  const atUpgraded = await home.resume(upgraded.baseUrl, filled.lastEventId);
  await home.untilHeard(atUpgraded, heardFrom - filled.missed.length);
  for (const url of three) await home.switchLamp(url, three);
  for (const url of three) {
    await home.assertHistoryIsThere(url);
    await home.assertCursorGoesOn(url);
    await home.assertCursorGoesOn(url, await home.firstPage(upgraded.baseUrl));
    await home.assertSinceGoesOn(url);
  }
  await home.untilHeard(atOlder, heardFrom);
  await home.untilHeard(atUpgraded, heardFrom - filled.missed.length);
  await assertIdsAreTaken(home, [first.baseUrl, upgraded.baseUrl]);
  await assertSignInsAreShared(home, made, first.baseUrl, upgraded.baseUrl);
  await assertRevocationsAreShared(home, made, first.baseUrl, upgraded.baseUrl);
  await assertGrowthIsSeen(made, filled, first.baseUrl, upgraded.baseUrl);
  const newHook = await receiver(test);
  const newHookFrom = home.powers.length;
  const asked = { url: newHook.url, deviceIds: [made.lamp] };
  const { secret } = await create(`${upgraded.baseUrl}/v3/webhooks`, filled.tokens.access_token, asked);
  for (const url of three) await home.switchLamp(url, three);
  const untilDelivered = async () => {
    await home.untilDelivered();
    await home.untilDelivered(newHook, secret, newHookFrom);
  };
  await untilDelivered();
  await untilBothOwnLinks(home, rows);
  for (const url of three) {
    await home.assertMirrors(url);
    await home.assertAlertsFire(url);
  }

  // An older node that its supervisor restarts comes back on the new schema.
  await end(second);
  second = await made.start("older", Number(new URL(second.baseUrl).port));
  for (const url of three) await home.switchLamp(url, three);
  const atRestarted = await home.resume(second.baseUrl, atOlder.lastEventId);
  await home.untilHeard(atRestarted, home.powers.length - 3);
  await untilBothOwnLinks(home, rows);
  await home.assertAlertsFire(second.baseUrl);
  await assertPlain(rows);

  await end(first);
  const two = [second.baseUrl, upgraded.baseUrl];
  for (const url of two) await home.switchLamp(url, two);
  await home.untilHeard(atRestarted, home.powers.length - 5);
  await home.assertMirrors(second.baseUrl);
  await home.assertAlertsFire(upgraded.baseUrl);
  await end(second);
  await home.switchLamp(upgraded.baseUrl);
  const moved = await home.resume(upgraded.baseUrl, atRestarted.lastEventId);
  await home.untilHeard(moved, home.powers.length - 1);
  await home.untilHeard(atUpgraded, heardFrom - filled.missed.length);
  await home.eventually(async () => assert.deepEqual(await ownersOf(rows), { older: 0, this: 6 }));
  await home.assertMirrors(upgraded.baseUrl);
  await home.assertAlertsFire(upgraded.baseUrl);
  await untilDelivered();

  // Only nodes of this version are left: addresses are sealed, and the older version can't come back.
  await assertPlain(rows);
  const another = await made.start("this");
  const both = [upgraded.baseUrl, another.baseUrl];
  await home.untilSealed(rows);
  await assert.rejects(made.start("older"), /did not start \(3\)/);
  for (const url of both) {
    await home.switchLamp(url, both);
    await home.assertMirrors(url);
    await home.assertAlertsFire(url);
  }
  await home.assertShelfOnlyShrinks(another.baseUrl);
  await home.assertLargeAlertOnlyShrinks(another.baseUrl);
  await untilDelivered();
  test.diagnostic(
    `${home.powers.length} values, ${filled.hook.received.length + newHook.received.length} webhook messages`,
  );
}

async function end(node: ChildService): Promise<void> {
  node.process.kill("SIGTERM");
  assert.equal(await node.ended, 0);
}

/** A stream resumes at the other version with the id that one version gave: without a gap, or with `resync`. */
async function assertIdsAreTaken(home: KeptHome, urls: readonly [string, string]): Promise<void> {
  for (const [from, to] of [urls, urls.toReversed()] as [string, string][]) {
    const stream = await home.resume(from);
    await home.switchLamp(from);
    await home.untilHeard(stream, home.powers.length - 1);
    const { lastEventId } = stream;
    stream.close();
    await home.switchLamp(from);
    const resumed = await home.resume(to, lastEventId);
    await resumed.until(1);
    const isAnew = resumed.events[0]!.name === "resync";
    await home.switchLamp(from);
    await home.untilHeard(resumed, home.powers.length - (isAnew ? 1 : 2));
    resumed.close();
  }
}

/** A sign-in that began at one version ends at the other, and its tokens are good and refreshed at both. */
async function assertSignInsAreShared(home: KeptHome, made: MadeHome, ...urls: [string, string]): Promise<void> {
  for (const start of [0, 1]) {
    let turn = start;
    const tokens = await signIn(() => urls[turn++ % 2]!, made.userClient);
    for (const url of urls) await home.assertTokensGoOn(url, tokens.access_token);
    const refreshed = await home.refresh(urls[start]!, tokens.refresh_token);
    for (const url of urls) await home.assertTokensGoOn(url, refreshed.access_token);
    const again = await home.refresh(urls[1 - start]!, refreshed.refresh_token);
    for (const url of urls) await home.assertTokensGoOn(url, again.access_token);
  }
  const first = await home.refresh(urls[1]);
  for (const url of urls) await home.assertTokensGoOn(url, first.access_token);
}

/** A token that is revoked at a node of one version ends at the other's. */
async function assertRevocationsAreShared(home: KeptHome, made: MadeHome, ...urls: [string, string]): Promise<void> {
  for (const [at, other] of [urls, urls.toReversed()] as [string, string][]) {
    const { access_token: token } = await signIn(() => at, made.userClient);
    await home.assertTokensGoOn(other, token);
    const body = new URLSearchParams({ token, ...made.userClient });
    assert.equal((await fetch(`${at}/oauth2/revoke_token`, { method: "POST", body })).status, 200);
    await home.eventually(async () => assert.equal((await send(`${other}/v3/users`, token, "GET")).status, 401));
  }
}

/** Names that an older node adds count for the limit, although older nodes do not count. */
async function assertGrowthIsSeen(made: MadeHome, filled: FilledHome, older: string, upgraded: string): Promise<void> {
  const token = filled.tokens.access_token;
  const names = (from: number, to: number) =>
    Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`thing${from + i}`, "here"]));
  assert.equal((await put(upgraded, token, made.basket, names(0, 990))).status, 200);
  assert.equal((await put(older, token, made.basket, names(990, 1_005))).status, 200);
  const refused = await put(upgraded, token, made.basket, names(1_005, 1_006));
  assert.deepEqual([refused.status, refused.body.error], [409, "limit_reached"]);
  assert.equal((await put(upgraded, token, made.basket, { thing1: "moved" })).status, 200);
  assert.equal((await put(older, token, made.shelf, { place0: "older" })).status, 200);
}

/** How many links the nodes of each version own. */
async function ownersOf(rows: StoreRows): Promise<{ readonly older: number; readonly this: number }> {
  const owners = await rows.all(
    "SELECT n.id, n.schema_version AS version FROM links l LEFT JOIN nodes n ON n.id = l.owner",
  );
  const count = (isOurs: boolean) => owners.filter(({ id, version }) => id && (version !== null) === isOurs).length;
  return { older: count(false), this: count(true) };
}

async function untilBothOwnLinks(home: KeptHome, rows: StoreRows): Promise<void> {
  await home.eventually(async () => {
    const owners = await ownersOf(rows);
    assert.ok(owners.older > 0 && owners.this > 0 && owners.older + owners.this === 6, JSON.stringify(owners));
  });
}

/** While older nodes may read them, addresses of webhooks are not sealed. */
async function assertPlain(rows: StoreRows): Promise<void> {
  for (const { url, sealed_url: sealed } of await rows.all("SELECT url, sealed_url FROM webhooks")) {
    assert.match(url, /hook$/);
    assert.equal(sealed, null);
  }
}
