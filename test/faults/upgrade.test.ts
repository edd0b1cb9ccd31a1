import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { send } from "../events/made-home.ts";
import { breezeway } from "../stories/child-service.ts";
import { KeptHome } from "../upgrade/kept-home.ts";
import { createOlderHome, fillOlder } from "../upgrade/older-home.ts";
import { addOwnValve, assertOwnCommandsAreShared, untilSilenceIsLogged } from "../upgrade/own-things.ts";
import { checkOutVersion, findPreviousVersion } from "../upgrade/previous-version.ts";
import { replaceOlderNodes } from "../upgrade/rolling.ts";
import { storeRows } from "../upgrade/store-rows.ts";

const root = new URL("../..", import.meta.url).pathname;
const givenTree = process.env.BREEZEWAY_VERSION_BEFORE || undefined;
const previous = givenTree ? undefined : findPreviousVersion(root);
const skip =
  !givenTree &&
  !previous &&
  "git knows no version before this one: set BREEZEWAY_VERSION_BEFORE to the folder of an older checkout of Breezeway that has its node_modules.";
let tree = givenTree ?? "";

let folder: string | undefined;

before(() => {
  if (!previous) return;
  folder = mkdtempSync(join(tmpdir(), "breezeway-before-"));
  tree = join(folder, "tree");
  checkOutVersion(root, previous, tree);
});
after(() => {
  if (folder) rmSync(folder, { recursive: true, force: true });
});

describe(`a filled store of ${givenTree ?? previous ?? "an older version"}`, () => {
  it("on sqlite continues with this version: everything that clients hold stays valid", {
    skip,
    timeout: 600_000,
  }, async (t) => {
    const olderHome = await createOlderHome(t, { tree, accounts: 1 });
    const older = await olderHome.start("older");
    const filled = await fillOlder(t, olderHome, older.baseUrl);
    const home = new KeptHome(t, olderHome, filled);
    const valve = await addOwnValve(older.baseUrl, home, olderHome, filled);
    await home.untilDelivered();
    older.process.kill("SIGTERM");
    assert.equal(await older.ended, 0);

    const { baseUrl: url } = await olderHome.start("this");
    await home.assertTokensWork(url);
    await home.assertHistoryIsThere(url);
    await home.assertCursorContinues(url);
    await home.assertSinceWorks(url);
    const stream = await home.resume(url, filled.lastEventId);
    await home.switchLamp(url);
    await home.untilReceived(stream, filled.powers.length - filled.missed.length);
    await home.untilDelivered();
    const rows = await storeRows(olderHome.environment);
    await home.untilSealed(rows);
    if (valve) {
      await untilSilenceIsLogged(home, rows, valve);
      await assertOwnCommandsAreShared(home, filled, valve, [url, url]);
    }
    await rows.end();
    await home.switchLamp(url);
    await home.untilDelivered();
    await home.assertMirrors(url);
    await home.assertAlertsFire(url);
    await home.assertFullDeviceOnlyShrinks(url);
    await home.assertLargeAlertOnlyShrinks(url);
    const { access_token: token } = await home.refresh(url);
    await home.assertTokensWork(url, token);
    const removed = await breezeway(["device", "remove", String(olderHome.fullDevice)], {
      environment: olderHome.environment,
    });
    assert.deepEqual([removed.code, removed.stderr], [0, ""]);
    assert.equal((await send(`${url}/v3/devices/${olderHome.fullDevice}`, token, "GET")).status, 404);
  });

  it("on postgres continues while nodes are replaced one by one", { skip, timeout: 900_000 }, (t) =>
    replaceOlderNodes(t, tree),
  );
});
