import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { send } from "../events/made-home.ts";
import { breezeway } from "../stories/child-service.ts";
import { KeptHome } from "../upgrade/kept-home.ts";
import { fillOlder, madeByOlder } from "../upgrade/older-home.ts";
import { replaceOlderNodes } from "../upgrade/rolling.ts";
import { storeRows } from "../upgrade/store-rows.ts";

const tree = process.env.BREEZEWAY_VERSION_BEFORE ?? "";
const skip =
  tree === "" &&
  "Set BREEZEWAY_VERSION_BEFORE to the folder of an older checkout of Breezeway that has its node_modules.";

describe("a filled store of an older version (BREEZEWAY_VERSION_BEFORE)", () => {
  it("on sqlite goes on with this version: all that clients hold is good", { skip, timeout: 600_000 }, async (t) => {
    const made = await madeByOlder(t, { tree, accounts: 1 });
    const older = await made.start("older");
    const filled = await fillOlder(t, made, older.baseUrl);
    const home = new KeptHome(t, made, filled);
    await home.untilDelivered();
    older.process.kill("SIGTERM");
    assert.equal(await older.ended, 0);

    const { baseUrl: url } = await made.start("this");
    await home.assertTokensGoOn(url);
    await home.assertHistoryIsThere(url);
    await home.assertCursorGoesOn(url);
    await home.assertSinceGoesOn(url);
    const stream = await home.resume(url, filled.lastEventId);
    await home.switchLamp(url);
    await home.untilHeard(stream, filled.powers.length - filled.missed.length);
    await home.untilDelivered();
    const rows = await storeRows(made.environment);
    await home.untilSealed(rows);
    await rows.end();
    await home.switchLamp(url);
    await home.untilDelivered();
    await home.assertMirrors(url);
    await home.assertAlertsFire(url);
    await home.assertShelfOnlyShrinks(url);
    await home.assertLargeAlertOnlyShrinks(url);
    const { access_token: token } = await home.refresh(url);
    await home.assertTokensGoOn(url, token);
    const removed = await breezeway(["device", "remove", String(made.shelf)], { environment: made.environment });
    assert.deepEqual([removed.code, removed.stderr], [0, ""]);
    assert.equal((await send(`${url}/v3/devices/${made.shelf}`, token, "GET")).status, 404);
  });

  it("on postgres goes on while nodes are replaced one by one", { skip, timeout: 900_000 }, (t) =>
    replaceOlderNodes(t, tree),
  );
});
