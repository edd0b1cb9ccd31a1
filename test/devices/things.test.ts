import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commitOn, type DeviceUpdate } from "../../src/devices/commit.ts";
import { thingEntry } from "../../src/devices/log-entries.ts";
import type { ThingWrite } from "../../src/devices/thing-writes.ts";
import type { Thing } from "../../src/home/thing.ts";
import { printOf } from "../../src/home/thing-print.ts";
import { decodeDescriptor, decodeState, hasForm, type ThingForm } from "../../src/home/thing-text.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { virtualDeviceType } from "../../src/model/virtual-device-type.ts";
import { OwnThings } from "../../src/own-things/own-things.ts";
import { fieldsSince, thingReading } from "../../src/own-things/thing-reading.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { onStore, type TestDatabase } from "../contracts/store/harness.ts";
import { makeHome, silent } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { alarmThing, thermostatThing } from "../home/home-parts.ts";
import { plainOwnThingIds } from "../home/thing-ids.ts";
import { watchedStore } from "./watched-store.ts";

const cause = { by: "ecosystem" } as const;

function reported(thingId: string, thing: Thing): ThingWrite {
  const report = { key: `${thing.kind}/${thingId}`, thing, homeName: "Maple Street" };
  return { thingId, source: "nest", reported: report, print: printOf(report) };
}

const gone = (thingId: string): ThingWrite => ({ thingId, isGone: true });

/** A linked account, and commits of snapshots of its things. */
async function linkedHome(store: OpenStore, place: TestDatabase, thingForm?: () => ThingForm) {
  const { userId } = await makeHome(store, { devices: 0 });
  const account = { userId, typeName: virtualDeviceType, name: "account", isVirtual: true };
  const deviceId = await store.transaction((tx) => tx.devices.add(account));
  const watched = watchedStore(store);
  const parts = { store: watched, reactions: [], committed: () => undefined, report: silent };
  const commit = commitOn({ ...parts, ...(thingForm && { thingForm }) });
  const update = (...updates: readonly Omit<DeviceUpdate, "deviceId">[]) =>
    commit({ userId, cause, updates: updates.map((one) => ({ ...one, deviceId })) });
  /** What happened to the things, as `id: what field, field`. */
  const show = async (...things: readonly ThingWrite[]) =>
    (await update({ changes: [], things })).flatMap((one) =>
      one.things.map(({ thingId, what, fields }) => ({
        [thingId]: [what, ...fields.map(({ trait, field, value }) => `${trait}.${field}=${value}`)],
      })),
    );
  const log = async () =>
    (await store.read((tx) => tx.log.ofDevice(userId, deviceId))).map(({ kind, body }) => [kind, JSON.parse(body)]);
  const find = (thingId: string) =>
    thingReading(store, new OwnThings(plainOwnThingIds)).find({ kind: "user", userId }, thingId);
  const days = (count: number) => place.jumpClock(count * 86_400_000);
  return { userId, deviceId, watched, update, show, log, find, days };
}

const on = (test: (home: Awaited<ReturnType<typeof linkedHome>>) => Promise<void>) =>
  onStore(sqliteHarness, async (store, place) => test(await linkedHome(store, place)));

describe("a thing of a linked account", () => {
  const attic = (fields: Parameters<typeof alarmThing>[0] = {}) => reported("t_1", alarmThing(fields));

  it("is added, changes, and stays as it is when a snapshot says nothing new", () =>
    on(async ({ show, find, log, watched }) => {
      const [added] = await show(attic());
      assert.deepEqual(added?.t_1?.slice(0, 2), ["added", "smoke.available=true"]);
      assert.deepEqual(await show(attic()), []);
      assert.deepEqual(await show(attic({ smokeAlarmState: "emergency" })), [
        { t_1: ["state", "smoke.state=alarm", "smoke.word=emergency"] },
      ]);
      assert.deepEqual(await show(attic({ smokeAlarmState: "emergency", name: "Loft" })), [{ t_1: ["changed"] }]);
      assert.deepEqual(await show(attic({ name: "Hall" })), [
        { t_1: ["changed", "smoke.state=clear", "smoke.word=ok"] },
      ]);
      assert.equal((await find("t_1")).name, "Hall");
      assert.deepEqual((await log()).slice(1, 3), [
        [
          "thing",
          {
            cause,
            things: [{ thingId: "t_1", what: "state", fields: { "smoke.state": "alarm", "smoke.word": "emergency" } }],
          },
        ],
        ["thing", { cause, things: [{ thingId: "t_1", what: "changed" }] }],
      ]);
      assert.equal((await log()).length, 4);
      const needless = ["attributes.write", "things.setGone", "things.trimGone"];
      assert.ok(watched.statements.every(({ name }) => !needless.includes(name)));
    }));

  it("is logged as eased when its alarm becomes a warning, and only then", () =>
    on(async ({ show, log }) => {
      for (const state of ["emergency", "warning", "ok", "warning"]) await show(attic({ smokeAlarmState: state }));
      const eased = (await log()).map(([, body]) => (body as { things: { eased?: unknown }[] }).things[0]?.eased);
      assert.deepEqual(eased, [undefined, ["smoke.state"], undefined, undefined]);
    }));

  it("is stored with everything that recognises it in the next snapshot", () =>
    onStore(sqliteHarness, async (store, place) => {
      const { show, userId, deviceId } = await linkedHome(store, place);
      const thing = { ...thermostatThing({ celsius: 20 }), room: "Hallway" };
      const write = reported("t_2", thing);
      await show(write);
      const [row] = await store.read((tx) => tx.things.some(userId, ["t_2"]));
      assert.ok("print" in write && row);
      const { descriptor, state, ...rest } = row;
      assert.deepEqual(
        { ...rest },
        {
          userId,
          thingId: "t_2",
          deviceId,
          key: "thermostat/t_2",
          source: "nest",
          kind: "thermostat",
          room: "Hallway",
          print: write.print.hash,
          samples: JSON.stringify(write.print.samples),
          goneMs: null,
        },
      );
      assert.equal(decodeDescriptor(row).homeName, "Maple Street");
      assert.ok(hasForm(descriptor, "compact"));
      assert.equal(decodeState(state).temperature?.celsius?.[0], 20);
    }));

  it("is stored by names while older nodes read it, and takes the compact form with its next change", () =>
    onStore(sqliteHarness, async (store, place) => {
      const forms: { now: ThingForm } = { now: "named" };
      const { show, find, userId } = await linkedHome(store, place, () => forms.now);
      const stored = async () => {
        const [row] = await store.read((tx) => tx.things.some(userId, ["t_2"]));
        return [row!.descriptor, row!.state].map((text) => hasForm(text, "compact"));
      };
      const at = (celsius: number, name = "Hall") => reported("t_2", { ...thermostatThing({ celsius }), name });
      await show(at(20));
      assert.deepEqual(await stored(), [false, false]);
      const before = await find("t_2");
      forms.now = "compact";
      assert.deepEqual(await show(at(20)), [], "the form alone is no change");
      assert.deepEqual(await stored(), [false, false]);
      assert.deepEqual(await show(at(21)), [{ t_2: ["state", "temperature.celsius=21"] }]);
      assert.deepEqual(await stored(), [true, true]);
      assert.deepEqual({ ...(await find("t_2")), state: before?.state }, before);
      forms.now = "named";
      assert.deepEqual(await show(at(21, "Den")), [{ t_2: ["changed"] }]);
      assert.deepEqual(await stored(), [false, false]);
    }));

  it("is gone once, and is added again with all its fields when it comes back", () =>
    on(async ({ show, find }) => {
      const added = await show(attic());
      assert.deepEqual(await show(gone("t_1"), gone("t_unknown")), [{ t_1: ["gone"] }]);
      assert.notEqual((await find("t_1")).goneMs, null);
      assert.deepEqual(await show(gone("t_1")), []);
      assert.deepEqual(await show(attic()), added);
      assert.equal((await find("t_1")).goneMs, null);
    }));

  it("that is gone is forgotten after 90 days, when another thing goes", () =>
    on(async ({ show, find, days }) => {
      await show(attic(), reported("t_2", alarmThing({})), reported("t_3", alarmThing({})));
      await show(gone("t_1"));
      await days(89);
      await show(gone("t_2"));
      assert.notEqual((await find("t_1")).goneMs, null);
      await days(2);
      await show(gone("t_3"));
      await assert.rejects(find("t_1"), { code: "unknown_thing" });
      assert.notEqual((await find("t_2")).goneMs, null);
    }));

  it("shares the log entry of attributes that change in the same commit", () =>
    on(async ({ update, log }) => {
      await update({ changes: [{ key: 9, value: "home" }] });
      await update({ changes: [{ key: 9, value: "away" }], things: [attic()] });
      const [[, first], [kind, both]] = (await log()) as [[string, object], [string, { things: { what: string }[] }]];
      assert.deepEqual(first, { cause, changes: [[9, "home"]] });
      assert.deepEqual([kind, both.things.map(({ what }) => what)], ["attribute", ["added"]]);
    }));

  it("is compared with what an earlier update of the same commit stored", () =>
    on(async ({ update }) => {
      const commits = await update({ changes: [], things: [attic()] }, { changes: [], things: [attic()] });
      assert.equal(commits.length, 1);
    }));

  it("keeps the time of each field until the field changes", () =>
    on(async ({ show, find, days }) => {
      await show(attic());
      const { state: before } = await find("t_1");
      await days(1);
      await show(attic({ smokeAlarmState: "warning" }));
      const after = await find("t_1");
      const [, addedMs] = before.smoke!.available!;
      assert.deepEqual([...fieldsSince(after, "smoke", addedMs).keys()], ["state", "word"]);
      assert.deepEqual(
        [...fieldsSince(after, "smoke").keys()],
        [...["available", "state", "word", "testing", "fault", "endOfLife", "muted"]],
      );
      const [value, updateTimeMs] = after.state.smoke!.state!;
      assert.deepEqual(fieldsSince(after, "smoke").get("state"), { value, updateTimeMs });
      assert.equal(fieldsSince(after, "fan").size, 0);
    }));

  it("that vanishes with its account has a log entry without a cause", () => {
    const entry = thingEntry(1 as UserId, 2 as DeviceId, 3, [{ thingId: "t_1", what: "gone", fields: [] }]);
    assert.equal(entry.body, '{"things":[{"thingId":"t_1","what":"gone"}]}');
  });
});

describe("the list of things", () => {
  it("shows each thing once, also those of the last link of a page", () =>
    onStore(sqliteHarness, async (store) => {
      const { userId } = await makeHome(store, { devices: 0 });
      const account = { userId, typeName: virtualDeviceType, name: "account", isVirtual: true };
      const row = { userId, key: "alarm/a", source: "nest", kind: "alarm", room: null, descriptor: "{}", state: "{}" };
      await store.transaction(async (tx) => {
        for (let i = 1; i <= 101; i++) {
          const deviceId = await tx.devices.add(account);
          if (i < 100) continue;
          await tx.things.put({ ...row, thingId: `t_${i}`, deviceId, print: 0, samples: "[]", goneMs: null });
        }
      });
      const { page } = thingReading(store, new OwnThings(plainOwnThingIds));
      const first = await page({ kind: "user", userId }, { afterDevice: 0, afterThing: "" });
      const second = await page({ kind: "user", userId }, first.next!);
      const ids = [first, second].map(({ things }) => things.map(({ thingId }) => thingId));
      assert.deepEqual(ids, [["t_100"], ["t_101"]]);
      assert.equal(second.next, undefined);
    }));
});
