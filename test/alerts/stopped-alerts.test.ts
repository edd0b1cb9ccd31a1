import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AlertTables, alertsOn } from "../../src/alerts/alerts.ts";
import { commitOn } from "../../src/devices/commit.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import type { OpenStore, Store } from "../../src/store/seam.ts";
import { onStore } from "../contracts/store/harness.ts";
import { silent } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { watchedStore } from "../devices/watched-store.ts";
import { alarmThing } from "../home/home-parts.ts";
import { madeAlerts, target } from "./made-alerts.ts";
import { alarmId, madeThingAlerts, reportOf } from "./made-thing-alerts.ts";

const echo = { operation: "regex", stringThreshold: ".*", autoDisarm: false };
const targetsOn = (lamp: DeviceId, count: number, prefix = "light") =>
  Array.from({ length: count }, (_, i) => target(lamp, `${prefix} ${i}`, "on"));

async function limitedAlerts(store: OpenStore) {
  const reached: string[] = [];
  const made = await madeAlerts(store, { onLimitReached: (limit) => reached.push(limit) });
  return { ...made, other: made.devices[1]!, reached };
}

const on = (test: (home: Awaited<ReturnType<typeof limitedAlerts>>) => Promise<void>) =>
  onStore(sqliteHarness, async (store) => test(await limitedAlerts(store)));

describe("an alert in a chain", () => {
  it("that its own write reaches again is disarmed already", () =>
    on(async ({ add, write, lamp, firings, evaluationsOf }) => {
      const again = { deviceId: lamp, attributeName: "n", targets: [target(lamp, "n", "again")] };
      const id = await add({ ...echo, ...again, autoDisarm: true });
      await write(lamp, "n", "go");
      assert.equal((await firings(lamp)).length, 1);
      assert.deepEqual(await evaluationsOf(id), ["again ignored", "go fired"]);
    }));

  it("writes up to the limit of its cause, and the limit counts as reached only beyond it", () =>
    on(async ({ add, showAway, lamp, reached, firings }) => {
      for (const prefix of ["a", "b"]) await add({ targets: targetsOn(lamp, limits.alertWritesPerCause / 2, prefix) });
      await showAway("home");
      assert.deepEqual(reached, []);
      await add({ targets: targetsOn(lamp, 1, "c") });
      await showAway("away");
      await showAway("home");
      assert.deepEqual(reached, ["alertWritesPerCause"]);
      assert.deepEqual(
        (await firings()).map(({ note }) => note),
        [undefined, undefined, undefined, undefined, "stopped at the limit"],
      );
    }));

  it("leaves the room that it may not use to the alerts after it", () =>
    on(async ({ add, showAway, lamp, firings, alerts, accessScope }) => {
      const sizes = [100, 60, 60, 40];
      const ids = [];
      for (const size of sizes) ids.push(await add({ targets: targetsOn(lamp, size, `${ids.length}`) }));
      await showAway("home");
      assert.deepEqual(
        (await firings()).map(({ writes }) => writes.length),
        [100, 60, 0, 40],
      );
      for (const id of ids) assert.equal((await alerts.find(accessScope, id)).firings, 1);
    }));

  it("that a limit stops twice has one log entry about it", () =>
    on(async ({ add, write, lamp, other, firings }) => {
      for (const value of ["1", "2", "3"]) {
        await add({ ...echo, deviceId: lamp, attributeName: "n", targets: [target(other, "n", value)] });
      }
      await add({ ...echo, deviceId: other, attributeName: "n", targets: targetsOn(lamp, 100) });
      await write(lamp, "n", "go");
      assert.deepEqual(
        (await firings(other)).map(({ value, writes, note }) => [value, writes.length, note]),
        [
          ["1", 100, undefined],
          ["2", 0, "stopped at the limit"],
        ],
      );
    }));

  it("whose pattern would take too long is not evaluated, and its stored record says so once", () =>
    onStore(sqliteHarness, async (store) => {
      const { addOld, userId, byClient, lamp, evaluationsOf } = await limitedAlerts(store);
      const id = await addOld("b.{990}", { deviceId: lamp, attributeName: "text", action: "note", targets: [] });
      const watched = watchedStore(store);
      const alerts = alertsOn({ store: watched as Store<AlertTables> });
      const commit = commitOn({
        store: watched,
        reactions: [alerts.react],
        committed: alerts.afterCommit,
        report: silent,
      });
      const update = { deviceId: lamp, changes: [{ key: "text", value: "a".repeat(8_000) }] };
      await commit({ userId, cause: byClient, updates: [update, update] });
      const stored = await store.read((tx) => tx.triggers.record(userId, id));
      assert.deepEqual(
        stored.map(({ outcome, note }) => [outcome, note]),
        [["stopped", "stopped at the limit"]],
      );
      assert.equal(watched.statements.filter(({ name }) => name === "triggers.change").length, 1);
      assert.equal((await alerts.explain({ kind: "user", userId }, id)).evaluations.length, 2);
      assert.equal((await evaluationsOf(id)).length, 1, "the evaluation in memory is another node's");
    }));

  it("that is not evaluated leaves the steps that it would have taken to the alerts after it", () =>
    on(async ({ add, commit, userId, byClient, lamp, evaluationsOf, reached }) => {
      const note = { deviceId: lamp, operation: "regex", action: "note", targets: [] };
      const ids = [];
      for (const stringThreshold of ["x{230}", "x{231}", "alarm"]) {
        const attributeName = stringThreshold === "alarm" ? "smoke" : "report";
        ids.push(await add({ ...note, attributeName, stringThreshold }));
      }
      const changes = [
        { key: "report", value: "y".repeat(8_192) },
        { key: "smoke", value: "alarm" },
      ];
      await commit({ userId, cause: byClient, updates: [{ deviceId: lamp, changes }] });
      const outcomes = [];
      for (const id of ids) outcomes.push((await evaluationsOf(id))[0]?.split(" ")[1]);
      assert.deepEqual(outcomes, ["unmet", "stopped", "fired"]);
      assert.deepEqual(reached, ["patternStepsPerCause"]);
    }));

  it("that may not fire leaves the bytes that it would have taken to the alerts after it", () =>
    on(async ({ add, write, lamp, writesTo, firings }) => {
      const go = { deviceId: lamp, attributeName: "n", stringThreshold: "go" };
      const texts = { address: "x".repeat(2_048), message: "x".repeat(2_048) };
      const targets = [target(lamp, "a", "x".repeat(8_000)), target(lamp, "b", "x".repeat(3_500))];
      const count = Math.ceil(limits.firingBytesPerCause / 15_600) + 1;
      for (let i = 0; i < count; i++) await add({ ...go, ...texts, action: "note", targets });
      await add({ ...go, targets: [target(lamp, "siren", "on")] });
      await write(lamp, "n", "go");
      assert.deepEqual(await writesTo(lamp, "siren"), ["on"]);
      assert.ok((await firings(lamp)).some(({ note }) => note === "stopped at the limit"));
    }));

  it("that writes more than there is room for takes nothing of the budget of firings", () =>
    on(async ({ add, write, lamp, firings }) => {
      const go = { deviceId: lamp, attributeName: "n", stringThreshold: "go" };
      for (const prefix of ["a", "b"]) await add({ ...go, targets: targetsOn(lamp, 100, prefix) });
      const value = "x".repeat(8_000);
      const texts = { address: "x".repeat(2_048), message: "x".repeat(2_048) };
      const count = Math.ceil(limits.firingBytesPerCause / 12_000);
      for (let i = 0; i < count; i++) await add({ ...go, ...texts, targets: [target(lamp, "c", value)] });
      await add({ ...go, action: "note", targets: [] });
      await write(lamp, "n", "go");
      assert.equal((await firings(lamp)).at(-1)?.note, undefined);
    }));

  it("names all devices that are gone", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, showAway, firings, userId, lamp, other } = await limitedAlerts(store);
      await add({ targets: [target(lamp, "power", "on"), target(other, "power", "on")] });
      await store.transaction(async (tx) => {
        for (const id of [lamp, other]) await tx.devices.remove(userId, id);
      });
      await showAway("home");
      const gone = (id: DeviceId) => `device ${id} is not there any more`;
      assert.equal((await firings())[0]?.note, `${gone(lamp)}; ${gone(other)}`);
    }));

  it("erases an attribute with an empty value", () =>
    on(async ({ add, showAway, writesTo, lamp }) => {
      await add({ targets: [target(lamp, "power", "")] });
      await showAway("home");
      assert.deepEqual(await writesTo(lamp, "power"), [null]);
    }));
});

describe("a change of a device without alerts", () => {
  it("looks no alert up", () =>
    onStore(sqliteHarness, async (store) => {
      const { userId, byClient, lamp } = await limitedAlerts(store);
      const watched = watchedStore(store);
      const { react, afterCommit } = alertsOn({ store: watched as Store<AlertTables> });
      const commit = commitOn({ store: watched, reactions: [react], committed: afterCommit, report: silent });
      const changes = [{ key: "power", value: "on" }];
      await commit({ userId, cause: byClient, updates: [{ deviceId: lamp, changes }] });
      assert.ok(watched.statements.every(({ name }) => !name.startsWith("triggers.")));
    }));

  it("looks no alert on things up, when the change is one of a thing", () =>
    onStore(sqliteHarness, async (store) => {
      const { userId, account } = await madeThingAlerts(store);
      const watched = watchedStore(store);
      const { react, afterCommit } = alertsOn({ store: watched as Store<AlertTables> });
      const commit = commitOn({ store: watched, reactions: [react], committed: afterCommit, report: silent });
      const things = [reportOf(alarmId, alarmThing({ smokeAlarmState: "emergency" }))];
      await commit({ userId, cause: { by: "ecosystem" }, updates: [{ deviceId: account, changes: [], things }] });
      const names = watched.statements.map(({ name }) => name);
      assert.ok(names.includes("things.setState"));
      assert.ok(names.every((name) => !name.startsWith("thingTriggers.")));
    }));
});
