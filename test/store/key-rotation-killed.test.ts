import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { callControl } from "../../src/cli/administration/control-socket.ts";
import { dataFolder } from "../../src/store/disk/data-folder.ts";
import { startChild } from "../stories/child-service.ts";
import { madeWorld, openAll } from "./sealed-world.ts";

describe("a service that is killed during a key rotation", () => {
  it("starts again, opens everything, and finishes", { timeout: 240_000 }, async (t) => {
    const { folder, keyFile, parts, open } = await madeWorld(t, "sqlite", 5_000);
    await parts.close();
    const environment = { BREEZEWAY_DATA: folder, BREEZEWAY_PORT: "0", BREEZEWAY_LOG_LEVEL: "silent" };
    const first = await startChild("serve", environment);
    t.after(() => first.process.kill("SIGKILL"));
    const { controlSocket } = dataFolder(folder);
    await assert.rejects(callControl(controlSocket, "key rotate", {}, () => void first.process.kill("SIGKILL")));
    await first.ended;

    const second = await startChild("serve", environment);
    t.after(() => second.process.kill("SIGKILL"));
    // biome-ignore lint/suspicious/noExplicitAny: each answer's shape is what the test looks at
    const { keys } = (await callControl(controlSocket, "key list", {})) as any;
    assert.ok(keys.length === 2 && keys[1].values > 0, JSON.stringify(keys));
    await callControl(controlSocket, "key rotate", {});
    assert.deepEqual(await callControl(controlSocket, "key prune", {}), { removed: [keys[1].keyId] });
    second.process.kill("SIGTERM");
    assert.equal(await second.ended, 0);
    // The service has sealed the addresses of webhooks meanwhile.
    assert.ok((await openAll(await open(), keyFile)) >= 5_000);
  });
});
