import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chainLimits, commitOn } from "../../src/devices/commit.ts";
import { UnknownTrigger } from "../../src/model/errors.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { onStore } from "../contracts/store/harness.ts";
import { silent } from "../contracts/store/home.ts";
import { postgresHarness } from "../contracts/store/postgres-harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { missingPostgres } from "../set-up/postgres.ts";
import { away, awayName, madeAlerts, target } from "./made-alerts.ts";

for (const harness of [sqliteHarness, postgresHarness]) {
  const skip = harness.kind === "postgres" ? (missingPostgres() ?? false) : false;
  describe(`an alert on ${harness.kind}`, { skip, timeout: 120_000 }, () => {
    const on = (test: (home: Awaited<ReturnType<typeof madeAlerts>>) => Promise<void>) =>
      onStore(harness, async (store) => test(await madeAlerts(store)));

    it("writes its target in one transaction with the change that caused it", () =>
      onStore(harness, async (store) => {
        const { add, account, lamp, userId, commit, alerts } = await madeAlerts(store);
        const id = await add();
        const update = { deviceId: account, changes: [{ key: away, value: "home" }] };
        const failing = commit({
          userId,
          cause: { by: "ecosystem" },
          updates: [update],
          also: () => Promise.reject(new Error("no")),
        });
        await assert.rejects(failing);
        assert.deepEqual(await store.read((tx) => tx.attributes.all(userId, lamp)), []);
        assert.equal((await alerts.find({ kind: "user", userId }, id)).isArmed, true);

        const commits = await commit({ userId, cause: { by: "ecosystem" }, updates: [update] });
        assert.deepEqual(
          commits.map(({ deviceId, hop, cause }) => ({ deviceId, hop, cause })),
          [
            { deviceId: account, hop: 0, cause: { by: "ecosystem" } },
            { deviceId: lamp, hop: 1, cause: { by: "alert", alert: id, hop: 1 } },
          ],
        );
        const [power] = await store.read((tx) => tx.attributes.all(userId, lamp));
        assert.deepEqual([power?.key, power?.value], ["power", "on"]);
      }));

    it("leaves an entry in the log for each firing", () =>
      on(async ({ add, showAway, firings, lamp }) => {
        const id = await add({ address: "ada@example.org", message: "Welcome" });
        await showAway("home");
        assert.deepEqual(await firings(), [
          {
            alert: id,
            action: "attribute",
            attributeName: awayName,
            value: "home",
            address: "ada@example.org",
            message: "Welcome",
            writes: [target(lamp, "power", "on")],
          },
        ]);
      }));

    it("with autoDisarm fires once per transition, and re-arms when its condition was false or blank", () =>
      on(async ({ add, showAway, writesTo, lamp, standing, evaluationsOf }) => {
        const id = await add({ operation: "regex", stringThreshold: "away|auto-away" });
        for (const value of ["away", "away", "auto-away", "away", "home", "auto-away", null, "away"]) {
          await showAway(value);
        }
        assert.equal((await writesTo(lamp, "power")).length, 3);
        assert.deepEqual(await standing(id), { isEnabled: true, isArmed: false });
        assert.deepEqual((await evaluationsOf(id)).toReversed(), [
          "away fired",
          "auto-away ignored",
          "away ignored",
          "home rearmed",
          "auto-away fired",
          " rearmed",
          "away fired",
        ]);
      }));

    it("without autoDisarm fires at every event for which it is true: changes of the mirror, writes of a client", () =>
      on(async ({ add, showAway, write, writesTo, devices, lamp }) => {
        await add({ autoDisarm: false });
        for (const value of ["home", "home", "away", "home"]) await showAway(value);
        assert.equal((await writesTo(lamp, "power")).length, 2);
        const [, other] = devices as [DeviceId, DeviceId];
        const targets = [target(lamp, "echo", "1")];
        await add({ deviceId: other, attributeName: "button", stringThreshold: "on", autoDisarm: false, targets });
        for (const value of ["on", "on", "off", "on"]) await write(other, "button", value);
        assert.equal((await writesTo(lamp, "echo")).length, 3);
      }));

    it("never fires when it is created, nor for another attribute or device", () =>
      on(async ({ add, showAway, show, write, firings, lamp }) => {
        await showAway("home");
        await add();
        await show([{ key: away + 1, value: "home" }]);
        await write(lamp, awayName, "home");
        assert.deepEqual(await firings(), []);
        await showAway("away");
        await showAway("home");
        assert.equal((await firings()).length, 1);
      }));

    it("is neither armed nor evaluated by a change of another attribute", () =>
      on(async ({ add, showAway, show, write, standing, evaluationsOf, lamp }) => {
        const id = await add();
        const named = await add({ deviceId: lamp, attributeName: "button", action: "note", targets: [] });
        await showAway("home");
        await write(lamp, "button", "home");
        await show([{ key: away + 1, value: "Maple Street" }]);
        await write(lamp, "colour", "red");
        for (const alert of [id, named]) {
          assert.deepEqual(await standing(alert), { isEnabled: true, isArmed: false });
          assert.deepEqual(await evaluationsOf(alert), ["home fired"]);
        }
      }));

    it("compares numbers, and matches patterns over the whole value", () =>
      on(async ({ add, write, lamp, firings }) => {
        const on = { deviceId: lamp, attributeName: "level", autoDisarm: false, action: "note", targets: [] };
        await add({ ...on, operation: ">=", threshold: "20", stringThreshold: "" });
        const pattern = await add({ ...on, operation: "regex", stringThreshold: "2." });
        for (const value of ["19.9", "20", "21", "warm", "221", null]) await write(lamp, "level", value);
        const fired = await firings(lamp);
        assert.deepEqual(
          fired.filter(({ alert }) => alert !== pattern).map(({ value }) => value),
          ["20", "21", "221"],
        );
        assert.deepEqual(
          fired.filter(({ alert }) => alert === pattern).map(({ value }) => value),
          ["20", "21"],
        );
      }));

    it("is deleted or disabled after firing if its definition says so", () =>
      on(async ({ add, showAway, alerts, accessScope, standing, firings }) => {
        const deleted = await add({ autoDelete: true, autoDisable: true });
        const disabled = await add({ autoDisable: true });
        for (const value of ["home", "away", "home"]) await showAway(value);
        await assert.rejects(alerts.find(accessScope, deleted), UnknownTrigger);
        assert.equal((await standing(disabled)).isEnabled, false);
        assert.match((await alerts.explain(accessScope, disabled)).sentence, /autoDisable/);
        assert.deepEqual(
          (await firings()).map(({ alert }) => alert),
          [deleted, disabled],
        );
        await alerts.setEnabled(accessScope, disabled, true);
        assert.equal((await alerts.find(accessScope, disabled)).reason, null);
        await showAway("away");
        await showAway("home");
        assert.equal((await firings()).length, 3);
      }));

    it("is armed by being enabled, by another autoDisarm, and by nothing else", () =>
      on(async ({ add, showAway, alerts, accessScope, given, standing, account }) => {
        const id = await add();
        await showAway("home");
        assert.deepEqual(await standing(id), { isEnabled: true, isArmed: false });
        await alerts.redefine(accessScope, id, given({ message: "changed" }));
        assert.deepEqual(await standing(id), { isEnabled: true, isArmed: false });
        await alerts.setEnabled(accessScope, id, false);
        assert.deepEqual(await standing(id), { isEnabled: false, isArmed: false });
        await alerts.setEnabled(accessScope, id, true);
        assert.deepEqual(await standing(id), { isEnabled: true, isArmed: true });
        await showAway("away");
        await showAway("home");
        await alerts.redefine(accessScope, id, given({ autoDisarm: false }));
        assert.deepEqual(await standing(id), { isEnabled: true, isArmed: true });
        await alerts.setEnabledOfDevice(accessScope, account, false);
        assert.equal((await standing(id)).isEnabled, false);
      }));

    it("sees nothing while it is disabled", () =>
      on(async ({ add, showAway, alerts, accessScope, firings, evaluationsOf }) => {
        const id = await add({ isEnabled: false });
        for (const value of ["home", "away"]) await showAway(value);
        assert.deepEqual([await firings(), await evaluationsOf(id)], [[], []]);
        await alerts.setEnabled(accessScope, id, true);
        await showAway("home");
        assert.equal((await firings()).length, 1);
      }));

    it("with another action writes nothing and is sent as an event", () =>
      on(async ({ add, showAway, firings, writesTo, lamp }) => {
        await add({ action: "email", address: "ada@example.org", message: "Home!" });
        await showAway("home");
        const [fired] = await firings();
        assert.deepEqual([fired?.action, fired?.message, fired?.writes], ["email", "Home!", []]);
        assert.deepEqual(await writesTo(lamp, "power"), []);
      }));

    it("requests the fan of a linked account, through the same gate as a client", () =>
      onStore(harness, async (store) => {
        const { userId, account, alerts, accessScope, given, lamp } = await madeAlerts(store);
        const request = thermostatAttribute(1, 2, "requestWrite");
        const heard: unknown[] = [];
        const commit = commitOn({
          store,
          gates: [
            async (_tx, device, { cause, changes }) => {
              heard.push([device.id, cause.by, changes]);
              return changes;
            },
          ],
          reactions: [alerts.react],
          committed: alerts.afterCommit,
          report: silent,
        });
        const name = "d.structures[1].d.thermostat[2].fan_timer_active.requestWrite";
        const targets = [target(account, name, "true")];
        await alerts.add(accessScope, given({ deviceId: lamp, attributeName: "button", targets }));
        const changes = [{ key: "button", value: "home" }];
        await commit({ userId, cause: { by: "administrator" }, updates: [{ deviceId: lamp, changes }] });
        assert.deepEqual(heard.at(-1), [account, "alert", [{ key: request, value: "true" }]]);
      }));

    it("fires for its other targets when one has gone, and says so", () =>
      onStore(harness, async (store) => {
        const { add, showAway, firings, writesTo, userId, devices, lamp, evaluationsOf } = await madeAlerts(store);
        const gone = devices[1]!;
        const id = await add({ targets: [target(gone, "power", "on"), target(lamp, "power", "on")] });
        await store.transaction((tx) => tx.devices.remove(userId, gone));
        await showAway("home");
        assert.deepEqual(await writesTo(lamp, "power"), ["on"]);
        const [fired] = await firings();
        assert.deepEqual(fired?.writes, [target(lamp, "power", "on")]);
        assert.equal(fired?.note, `device ${gone} is not there any more`);
        assert.deepEqual(await evaluationsOf(id), [`home fired device ${gone} is not there any more`]);
      }));

    it("fires other alerts, step by step", () =>
      on(async ({ add, showAway, writesTo, devices }) => {
        const [one, two] = devices as [DeviceId, DeviceId];
        await add({ targets: [target(one, "step", "1")] });
        await add({ deviceId: one, attributeName: "step", stringThreshold: "1", targets: [target(two, "step", "2")] });
        await add({ deviceId: two, attributeName: "step", stringThreshold: "2", targets: [target(one, "last", "3")] });
        await showAway("home");
        assert.deepEqual(await writesTo(one, "last"), ["3"]);
      }));

    it("that fires itself again stops at the limit of hops, and says so", () =>
      on(async ({ add, write, writesTo, devices, lamp, firings, evaluationsOf, alerts, accessScope }) => {
        const other = devices[1]!;
        const loop = { attributeName: "ball", operation: "regex", stringThreshold: ".*", autoDisarm: false };
        const there = await add({ ...loop, deviceId: lamp, targets: [target(other, "ball", "x")] });
        const back = await add({ ...loop, deviceId: other, targets: [target(lamp, "ball", "x")] });
        await write(lamp, "ball", "go");
        const hits = (await writesTo(lamp, "ball")).length + (await writesTo(other, "ball")).length;
        assert.equal(hits, 1 + chainLimits.hops);
        const fired = [...(await firings(lamp)), ...(await firings(other))];
        assert.equal(fired.length, 1 + chainLimits.hops);
        assert.equal(fired.filter(({ note }) => note === "stopped at the limit").length, 1);
        const [latest] = (await alerts.explain(accessScope, there)).evaluations;
        assert.equal(latest?.note, "stopped at the limit");
        assert.ok((await evaluationsOf(back)).every((evaluation) => evaluation === "x fired"));
      }));

    it("in a fan-out ends at the limit of writes, all or nothing for each alert, and says so", () =>
      on(async ({ add, showAway, lamp, firings, commit, userId }) => {
        const targets = (from: number) =>
          Array.from({ length: 30 }, (_, i) => target(lamp, `light ${from * 30 + i}`, "on"));
        for (let i = 0; i < 8; i++) await add({ targets: targets(i) });
        await showAway("home");
        const fired = await firings();
        assert.deepEqual(
          fired.map(({ writes }) => writes.length),
          [30, 30, 30, 30, 30, 30, 0, 0],
        );
        assert.deepEqual(
          fired.map(({ note }) => note),
          [...new Array(6).fill(undefined), "stopped at the limit", "stopped at the limit"],
        );
        // The home still works.
        await commit({ userId, cause: { by: "administrator" }, updates: [{ deviceId: lamp, changes: [] }] });
      }));

    it("that multiplies at each step is stopped, once in the log for each alert and cause", () =>
      on(async ({ add, write, devices, lamp, firings, writesTo }) => {
        const other = devices[1]!;
        const loop = { attributeName: "n", operation: "regex", stringThreshold: ".*", autoDisarm: false };
        for (let i = 0; i < 4; i++) {
          await add({ ...loop, deviceId: lamp, targets: [target(other, "n", `${i}`)] });
          await add({ ...loop, deviceId: other, targets: [target(lamp, "n", `${i}`)] });
        }
        await write(lamp, "n", "go");
        const writes = (await writesTo(lamp, "n")).length + (await writesTo(other, "n")).length;
        assert.equal(writes, 1 + chainLimits.writes);
        const stopped = [...(await firings(lamp)), ...(await firings(other))].filter(({ note }) => note !== undefined);
        assert.ok(stopped.length > 0 && stopped.length <= 8, `${stopped.length}`);
        assert.equal(new Set(stopped.map(({ alert }) => alert)).size, stopped.length);
      }));

    it("keeps its record bounded, and stores it when it fires or is armed again", () =>
      onStore(harness, async (store) => {
        const { add, showAway, evaluationsOf, userId } = await madeAlerts(store);
        const id = await add();
        const stored = async () => (await store.read((tx) => tx.triggers.record(userId, id))).length;
        for (let i = 0; i < 60; i++) await showAway(`${i}`);
        assert.equal(await stored(), 0);
        assert.equal((await evaluationsOf(id)).length, 50);
        await showAway("home");
        assert.equal(await stored(), 50);
        assert.deepEqual((await evaluationsOf(id)).slice(0, 2), ["home fired", "59 unmet"]);
        await showAway("away");
        assert.deepEqual((await evaluationsOf(id)).slice(0, 2), ["away rearmed", "home fired"]);
      }));

    it("counts two equal concurrent changes as one", () =>
      onStore(harness, async (store) => {
        const { add, showAway, writesTo, lamp } = await madeAlerts(store);
        await add({ autoDisarm: false });
        await Promise.all(Array.from({ length: 8 }, () => showAway("home")));
        assert.deepEqual(await writesTo(lamp, "power"), ["on"]);
      }));

    it("is found through its index, however many there are", () =>
      onStore(harness, async (store, place) => {
        await madeAlerts(store);
        const isSqlite = harness.kind === "sqlite";
        for (const [is, isAmong, keys] of [
          ["name = ''", "number", isSqlite ? "IN (SELECT value FROM json_each('[17,18]'))" : "= ANY('{17,18}'::int[])"],
          ["number = -1", "name", isSqlite ? `IN (SELECT value FROM json_each('["a"]'))` : "= ANY('{a}'::text[])"],
        ]) {
          const where = `user_id = 1 AND device_id = 1 AND is_enabled = 1 AND ${is} AND ${isAmong} ${keys}`;
          const explain = isSqlite ? "EXPLAIN QUERY PLAN" : "EXPLAIN";
          const plan = JSON.stringify(await place.sql(`${explain} SELECT id FROM triggers WHERE ${where}`));
          assert.match(
            plan,
            isSqlite ? /triggers_watching \(.*number=\? AND name=\?\)/ : /Index.*triggers_watching/,
            plan,
          );
        }
      }));
  });
}
