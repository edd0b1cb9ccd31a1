import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BadParameter, UnknownThing, UnknownTrigger } from "../../src/model/errors.ts";
import type { UserId } from "../../src/model/ids.ts";
import { onStore } from "../contracts/store/harness.ts";
import { postgresHarness } from "../contracts/store/postgres-harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { alarmThing, thermostatThing } from "../home/home-parts.ts";
import { missingPostgres } from "../set-up/postgres.ts";
import { away, target } from "./made-alerts.ts";
import { alarmId, madeThingAlerts, reportOf } from "./made-thing-alerts.ts";

for (const harness of [sqliteHarness, postgresHarness]) {
  const skip = harness.kind === "postgres" ? (missingPostgres() ?? false) : false;
  describe(`an alert on a thing on ${harness.kind}`, { skip, timeout: 120_000 }, () => {
    const on = (test: (home: Awaited<ReturnType<typeof madeThingAlerts>>) => Promise<void>) =>
      onStore(harness, async (store) => test(await madeThingAlerts(store)));

    it("fires in the commit that changes its field, once until the field has had another value", () =>
      on(async ({ addOnThing, showAlarm, writesTo, lamp, thingFirings, firings, evaluations }) => {
        const id = await addOnThing({ message: "Smoke!" });
        for (const smokeAlarmState of ["warning", "emergency", "emergency"]) await showAlarm({ smokeAlarmState });
        await showAlarm({ smokeAlarmState: "emergency", coAlarmState: "warning" });
        const writes = [target(lamp, "power", "on")];
        const watched = { thingId: alarmId, field: "smoke.state", value: "alarm" };
        const firing = { alert: id, action: "attribute", ...watched, address: "", message: "Smoke!", writes };
        assert.deepEqual(await thingFirings(), [firing]);
        assert.deepEqual(await firings(), [], "clients that know nothing of things see no firing");
        for (const smokeAlarmState of ["ok", "emergency"]) await showAlarm({ smokeAlarmState });
        assert.equal((await writesTo(lamp, "power")).length, 2);
        assert.deepEqual(await evaluations(id), ["warning unmet", "alarm fired", "clear rearmed", "alarm fired"]);
      }));

    it("changes nothing when its commit fails", () =>
      on(async ({ addOnThing, commit, userId, account, alerts, accessScope, thingFirings, writesTo, lamp }) => {
        const id = await addOnThing();
        const things = [reportOf(alarmId, alarmThing({ smokeAlarmState: "emergency" }))];
        const updates = [{ deviceId: account, changes: [], things }];
        const failing = { userId, cause: { by: "ecosystem" }, updates, also: () => Promise.reject(new Error("no")) };
        await assert.rejects(commit(failing as never));
        const { isArmed, firings } = await alerts.onThings.find(accessScope, id);
        assert.deepEqual([isArmed, firings, await thingFirings(), await writesTo(lamp, "power")], [true, 0, [], []]);
        const commits = await commit({ userId, cause: { by: "ecosystem" }, updates });
        assert.deepEqual(
          commits.map(({ hop, cause }) => ({ hop, cause })),
          [
            { hop: 0, cause: { by: "ecosystem" } },
            { hop: 1, cause: { by: "alert", alert: id, hop: 1 } },
          ],
        );
      }));

    it("compares flags and numbers as text, and takes an untold value for no value", () =>
      on(async ({ showThings, addOnThing, evaluations, showAlarm }) => {
        const thermostatId = "t_thermostat";
        const show = (celsius: number | null, fanTimerActive: boolean | null = null) =>
          showThings([reportOf(thermostatId, thermostatThing({ celsius: celsius as number, fanTimerActive }))]);
        await show(20);
        const ofThermostat = { thingId: thermostatId, action: "note", targets: [] };
        const warm = { ...ofThermostat, field: "temperature.celsius", stringThreshold: "" };
        const above = await addOnThing({ ...warm, operation: ">=", threshold: "21.5" });
        const exactly = await addOnThing({ ...warm, operation: "equals", stringThreshold: "21.5" });
        const fan = await addOnThing({ ...ofThermostat, field: "fanTimer.active", stringThreshold: "true" });
        await show(21.49, true);
        await show(21.5, false);
        await show(null, null);
        assert.deepEqual(await evaluations(above), ["21.49 unmet", "21.5 fired", "null rearmed"]);
        assert.deepEqual(await evaluations(exactly), ["21.49 unmet", "21.5 fired", "null rearmed"]);
        assert.deepEqual(await evaluations(fan), ["true fired", "false rearmed", "null unmet"]);
        const silent = await addOnThing({ field: "smoke.available", stringThreshold: "false" });
        await showAlarm({ isOnline: false });
        assert.deepEqual(await evaluations(silent), ["false fired"]);
        const clear = await addOnThing({ stringThreshold: "clear" });
        await showAlarm({ smokeAlarmState: null });
        await showAlarm({ smokeAlarmState: "smouldering" });
        assert.deepEqual(await evaluations(clear), ["null unmet", "unknown unmet"]);
      }));

    it("sees nothing of a commit that sets other fields of its thing, and its field of other things", () =>
      on(async ({ addOnThing, showThings, evaluations }) => {
        await showThings([reportOf("t_other", alarmThing({}))]);
        const id = await addOnThing();
        const onOther = await addOnThing({ thingId: "t_other", field: "carbonMonoxide.state" });
        await showThings([
          reportOf(alarmId, alarmThing({ coAlarmState: "emergency" })),
          reportOf("t_other", alarmThing({ smokeAlarmState: "emergency" })),
        ]);
        assert.deepEqual([await evaluations(id), await evaluations(onOther)], [[], []]);
      }));

    it("keeps its place while the thing is gone, and fires again when the thing is back in that state", () =>
      on(async ({ addOnThing, showAlarm, showGone, evaluations, alerts, accessScope }) => {
        const id = await addOnThing();
        const silent = await addOnThing({ field: "smoke.available", stringThreshold: "false" });
        await showAlarm({ smokeAlarmState: "emergency" });
        await showGone();
        const explained = await alerts.onThings.explain(accessScope, id);
        assert.deepEqual([explained.value, explained.isTrue], [null, false]);
        await showAlarm({ smokeAlarmState: "emergency" });
        assert.deepEqual(await evaluations(id), ["alarm fired", "null rearmed", "alarm fired"]);
        assert.deepEqual(await evaluations(silent), ["false fired", "true rearmed"]);
        assert.equal((await alerts.onThings.explain(accessScope, id)).value, "alarm");
      }));

    it("sees no value in a field that the stored thing lacks, as after an upgrade that adds fields", () =>
      onStore(harness, async (store) => {
        const { addOnThing, alerts, accessScope, userId } = await madeThingAlerts(store);
        const id = await addOnThing();
        for (const state of ["{}", '{"smoke":{}}']) {
          await store.transaction((tx) =>
            tx.things.setState({ userId, thingId: alarmId, state, print: 0, samples: "[]" }),
          );
          const { value, isTrue } = await alerts.onThings.explain(accessScope, id);
          assert.deepEqual([value, isTrue], [null, false]);
        }
      }));

    it("fires beside alerts on attributes, in the order of their ids, and starts chains as they do", () =>
      on(async ({ add, addOnThing, commit, userId, account, lamp, devices, writesTo, logOf }) => {
        const first = await addOnThing({ targets: [target(lamp, "power", "first")] });
        const second = await add({ targets: [target(lamp, "power", "second")] });
        const third = await addOnThing({ targets: [target(lamp, "power", "third")] });
        const [, other] = devices;
        await add({
          deviceId: lamp,
          attributeName: "power",
          stringThreshold: "third",
          targets: [target(other!, "heard", "1")],
        });
        const things = [reportOf(alarmId, alarmThing({ smokeAlarmState: "emergency" }))];
        const update = { deviceId: account, changes: [{ key: away, value: "home" }], things };
        await commit({ userId, cause: { by: "ecosystem" }, updates: [update] });
        assert.deepEqual(await writesTo(lamp, "power"), ["first", "second", "third"]);
        assert.deepEqual(await writesTo(other!, "heard"), ["1"]);
        const fired = (await logOf(account)).flatMap(({ kind, body }) => {
          return kind === "alert" || kind === "thingAlert" ? [JSON.parse(body).alert] : [];
        });
        assert.deepEqual(fired, [first, second, third]);
      }));

    it("would have fired in the past when a dry run says so, whether attributes changed too or not", () =>
      on(async ({ showAlarm, showGone, alerts, accessScope, givenOnThing, commit, userId, account, addOnThing }) => {
        const live = await addOnThing();
        await showAlarm({ smokeAlarmState: "emergency" });
        await showAlarm({ smokeAlarmState: "emergency", coAlarmState: "emergency" });
        await showAlarm({});
        const things = [reportOf(alarmId, alarmThing({ smokeAlarmState: "emergency" }))];
        const update = { deviceId: account, changes: [{ key: away, value: "home" }], things };
        await commit({ userId, cause: { by: "ecosystem" }, updates: [update] });
        await showGone();
        await showAlarm({ smokeAlarmState: "emergency" });
        const all = { afterMs: 0, untilMs: Number.MAX_SAFE_INTEGER };
        const { events, firings } = await alerts.onThings.dryRun(accessScope, givenOnThing(), all);
        // The first of them is the report that added the thing, before the alert was created.
        assert.equal(events, 6);
        assert.equal(firings.length, 3);
        const explained = await alerts.onThings.explain(accessScope, live);
        const seen = explained.evaluations.filter(({ outcome }) => outcome === "fired").map(({ timeMs }) => timeMs);
        assert.deepEqual(
          firings.map(({ timeMs }) => timeMs),
          seen.toReversed(),
        );
      }));

    it("is refused for a field that the thing lacks, and for a condition that no value can meet", () =>
      on(async ({ alerts, accessScope, givenOnThing, showThings }) => {
        await showThings([reportOf("t_thermostat", thermostatThing({ celsius: 20 }))]);
        const add = (change: object) => alerts.onThings.add(accessScope, givenOnThing(change));
        const refused = (change: object, parameter: string, words: RegExp) =>
          assert.rejects(
            add(change),
            (error) => error instanceof BadParameter && error.parameter === parameter && words.test(error.message),
            JSON.stringify(change),
          );
        for (const field of ["", "smoke", "smoke.", "smoke.colour", "smoke.state.word", "toString.state", "onOff.on"]) {
          await refused({ field }, "field", /smoke\.available, smoke\.state, smoke\.word/);
        }
        await refused({ stringThreshold: "emergency" }, "stringThreshold", /clear, warning, alarm, unknown/);
        await refused({ operation: "regex", stringThreshold: "fire.*" }, "stringThreshold", /clear, warning, alarm/);
        await refused({ operation: ">", threshold: "1" }, "operation", /not a number/);
        await refused({ field: "smoke.testing", stringThreshold: "yes" }, "stringThreshold", /true, false/);
        await refused({ field: "smoke.word", operation: "==", threshold: "1" }, "operation", /not a number/);
        const warm = { thingId: "t_thermostat", field: "temperature.celsius" };
        for (const stringThreshold of ["warm", "20.0", "1e1"]) {
          await refused({ ...warm, stringThreshold }, "stringThreshold", /is a number\. No value/);
        }
        await add({ ...warm, stringThreshold: "20" });
        await add({ ...warm, operation: "regex", stringThreshold: "2[0-9].*" });
        await assert.rejects(add({ thingId: "t_nobody" }), UnknownThing);
        await assert.rejects(add({ thingId: "t_\0" }), UnknownThing);
        const { alerts: all } = await alerts.onThings.pageOfBoth(accessScope, {
          afterId: 0,
          deviceId: undefined,
          thingId: undefined,
        });
        assert.equal(all.length, 2);
      }));

    it("belongs to its thing: its field and condition may change, and then it is armed", () =>
      on(async ({ addOnThing, alerts, accessScope, givenOnThing, showAlarm, showThings }) => {
        await showThings([reportOf("t_other", alarmThing({}))]);
        const id = await addOnThing();
        await showAlarm({ smokeAlarmState: "emergency" });
        const redefine = (change: object) => alerts.onThings.redefine(accessScope, id, givenOnThing(change));
        assert.equal((await redefine({ message: "another" })).isArmed, false);
        assert.equal((await redefine({ field: "smoke.word", stringThreshold: "emergency" })).isArmed, true);
        await assert.rejects(redefine({ thingId: "t_other" }), BadParameter);
        await alerts.onThings.setEnabled(accessScope, id, false);
        await showAlarm({ smokeAlarmState: "ok" });
        await showAlarm({ smokeAlarmState: "emergency" });
        assert.equal((await alerts.onThings.find(accessScope, id)).firings, 1);
        await alerts.onThings.remove(accessScope, id);
        await assert.rejects(alerts.onThings.find(accessScope, id), UnknownTrigger);
      }));

    it("is apart from the alerts on attributes: neither knows an id of the other", () =>
      on(async ({ add, addOnThing, alerts, accessScope, userId, account }) => {
        const [onThing, onAttribute] = [await addOnThing(), await add()];
        await assert.rejects(alerts.find(accessScope, onThing), UnknownTrigger);
        await assert.rejects(alerts.remove(accessScope, onThing), UnknownTrigger);
        await assert.rejects(alerts.onThings.find(accessScope, onAttribute), UnknownTrigger);
        const start = { afterId: 0, deviceId: undefined };
        const ids = (page: { readonly alerts: readonly { readonly id: number }[] }) => page.alerts.map(({ id }) => id);
        assert.deepEqual(ids(await alerts.page(accessScope, start)), [onAttribute]);
        const both = (request: object) =>
          alerts.onThings.pageOfBoth(accessScope, { ...start, thingId: undefined, ...request });
        assert.deepEqual(ids(await both({})), [onThing, onAttribute]);
        assert.deepEqual(ids(await both({ thingId: alarmId })), [onThing]);
        assert.deepEqual(ids(await both({ deviceId: account, afterId: onThing })), [onAttribute]);
        await alerts.setEnabledOfDevice(accessScope, account, false);
        assert.equal((await alerts.onThings.find(accessScope, onThing)).isEnabled, true);
        const stranger = { kind: "user", userId: (userId + 1) as UserId } as const;
        await assert.rejects(alerts.onThings.find(stranger, onThing), UnknownTrigger);
        await assert.rejects(alerts.onThings.pageOfBoth(stranger, { ...start, thingId: alarmId }), UnknownThing);
      }));
  });
}
