import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AlertTables, alertsOn } from "../../src/alerts/alerts.ts";
import { commitGroupOn } from "../../src/devices/commit-group.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import type { OpenStore, Store } from "../../src/store/seam.ts";
import { onStore, type TestDatabase } from "../contracts/store/harness.ts";
import { silent } from "../contracts/store/home.ts";
import { harnesses } from "../devices/limited-home.ts";
import { madeAlerts, target } from "./made-alerts.ts";

const noted = { operation: "regex", action: "note", targets: [], autoDisarm: false } as const;

/** Two homes, and a function that commits several changes in one transaction. */
async function groupedAlerts(store: OpenStore) {
  const [ada, bob] = [await madeAlerts(store), await madeAlerts(store, { name: "Bob" })];
  const reached: string[] = [];
  const alerts = alertsOn({ store: store as Store<AlertTables>, onLimitReached: (limit) => reached.push(limit) });
  const commitGroup = commitGroupOn({
    store,
    reactions: [alerts.react],
    committed: alerts.afterCommit,
    report: silent,
  });
  const writeTogether = (...writes: readonly (readonly [UserId, DeviceId, string, string])[]) =>
    commitGroup(async (tx, { apply }) => {
      await tx.users.lockOfTenant(ada.tenantId, [ada.userId, bob.userId]);
      for (const [userId, deviceId, key, value] of writes) {
        await apply({ userId, cause: { by: "administrator" }, updates: [{ deviceId, changes: [{ key, value }] }] });
      }
    });
  return { ada, bob, writeTogether, reached };
}

for (const { harness, skip } of harnesses) {
  const on = (test: (homes: Awaited<ReturnType<typeof groupedAlerts>>, database: TestDatabase) => Promise<void>) =>
    onStore(harness, async (store, database) => test(await groupedAlerts(store), database));

  describe(`changes of several causes in one transaction on ${harness.kind}`, { skip, timeout: 120_000 }, () => {
    it("have a budget of pattern steps each: a costly pattern of one user stops no alert of another", () =>
      on(async ({ ada, bob, writeTogether, reached }) => {
        const value = "x".repeat(8_000);
        // These take more than nine and more than one tenth of the steps for one change.
        await ada.add({ ...noted, deviceId: ada.lamp, attributeName: "report", stringThreshold: "x{230}" });
        await bob.add({ ...noted, deviceId: bob.lamp, attributeName: "report", stringThreshold: "x+|y{60}" });
        await writeTogether([ada.userId, ada.lamp, "report", value], [bob.userId, bob.lamp, "report", value]);
        assert.equal((await bob.firings(bob.lamp)).length, 1);
        assert.deepEqual(reached, []);
      }));

    it("have a budget of firings each", () =>
      on(async ({ ada, writeTogether, reached }) => {
        const big = { address: "x".repeat(2_048), message: "x".repeat(2_048) };
        const targets = [target(ada.lamp, "never written", "x".repeat(8_000))];
        const each = { ...noted, ...big, targets, deviceId: ada.lamp, attributeName: "n", stringThreshold: ".*" };
        const count = Math.floor((0.6 * limits.firingBytesPerCause) / 13_000);
        for (let i = 0; i < count; i++) await ada.add(each);
        await writeTogether([ada.userId, ada.lamp, "n", "1"], [ada.userId, ada.lamp, "n", "2"]);
        assert.equal((await ada.firings(ada.lamp)).length, 2 * count);
        assert.deepEqual(reached, []);
      }));

    it("keep a log entry each about an alert that a limit stopped", () =>
      on(async ({ ada, writeTogether, reached }) => {
        const targets = (prefix: string) =>
          Array.from({ length: 100 }, (_, i) => target(ada.lamp, `${prefix}${i}`, "on"));
        const writing = {
          ...noted,
          action: "attribute",
          deviceId: ada.lamp,
          attributeName: "n",
          stringThreshold: ".*",
        };
        for (const prefix of ["a", "b", "c"]) await ada.add({ ...writing, targets: targets(prefix) });
        await writeTogether([ada.userId, ada.lamp, "n", "1"], [ada.userId, ada.lamp, "n", "2"]);
        const notes = (await ada.firings(ada.lamp)).map(({ note }) => note);
        const stopped = "stopped at the limit";
        assert.deepEqual(notes, [undefined, undefined, stopped, undefined, undefined, stopped]);
        assert.deepEqual(reached, ["alertWritesPerCause", "alertWritesPerCause"]);
      }));

    it("are all in the stored record of an alert, also those at which it did not fire", () =>
      on(async ({ ada, writeTogether }) => {
        const id = await ada.add({ ...noted, deviceId: ada.lamp, attributeName: "n", stringThreshold: "go" });
        await writeTogether([ada.userId, ada.lamp, "n", "wait"], [ada.userId, ada.lamp, "n", "go"]);
        assert.deepEqual(await ada.evaluationsOf(id), ["go fired", "wait unmet"]);
      }));

    it("count what their alerts write for its own user only", () =>
      on(async ({ ada, bob, writeTogether, reached }, database) => {
        const bytes = 8_000;
        for (const { add, lamp } of [ada, bob]) {
          const targets = [target(lamp, "log", "x".repeat(bytes))];
          await add({
            ...noted,
            action: "attribute",
            deviceId: lamp,
            attributeName: "n",
            stringThreshold: "go",
            targets,
          });
        }
        const full = limits.attributeBytesPerUser - 1.5 * bytes;
        await database.sql(`UPDATE devices SET attribute_bytes = ${full} WHERE id = ${bob.lamp}`);
        await writeTogether([ada.userId, ada.lamp, "n", "go"], [bob.userId, bob.lamp, "n", "go"]);
        assert.equal((await bob.writesTo(bob.lamp, "log")).length, 1);
        assert.deepEqual(reached, []);
      }));
  });
}
