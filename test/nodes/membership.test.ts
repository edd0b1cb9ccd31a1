import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { describe, it } from "node:test";
import type { NodeId } from "../../src/model/ids.ts";
import { Membership } from "../../src/nodes/membership.ts";
import type { NodeBus } from "../../src/store/node-bus.ts";
import type { Store } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { movedRuntime, settled } from "../federation/moved-runtime.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";

describe("a node among others", () => {
  it("takes its presence lock again when it was lost as soon as it was taken", { timeout: 30_000 }, async (t) => {
    const folder = await newDataFolder("breezeway-membership-");
    const runtime = movedRuntime();
    const opened = await openSqlite({ folder, nowMs: runtime.nowMs });
    let tries = 0;
    const takePresenceLock: NodeBus["takePresenceLock"] = async (_, lost) => {
      tries += 1;
      if (tries === 1) queueMicrotask(lost);
      return { check: async () => undefined, release: async () => undefined };
    };
    const store: Store = {
      isShared: true,
      transaction: (body, priority) => opened.transaction(body, priority),
      read: (body) => opened.read(body),
    };
    const membership = new Membership("node" as NodeId, store, runtime, { takePresenceLock });
    t.after(async () => {
      await membership.stop();
      await opened.close();
      rmSync(folder, { recursive: true });
    });
    await membership.start();
    assert.equal(membership.isAlive, false);
    await runtime.advance(1_000);
    while (!membership.isAlive) {
      t.signal.throwIfAborted();
      await settled();
    }
    assert.equal(tries, 2);
  });
});
