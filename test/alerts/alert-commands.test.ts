import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { limits } from "../../src/model/limits.ts";
import type { OpenStore, Transaction } from "../../src/store/seam.ts";
import { onStore } from "../contracts/store/harness.ts";
import { makeHome } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { lampThing, madeCommanding, switchOn } from "./made-commanding.ts";
import { alarmId } from "./made-thing-alerts.ts";

const allLamps = { commands: [{ kind: "light", ...switchOn }], action: "note", targets: [] };

describe("an alert with commands", () => {
  it("commands all present lamps of its user with the change that fires it", () =>
    onStore(sqliteHarness, async (store) => {
      const { addOnThing, showAlarm, showLamps, showThings, receipts, thingFirings, wakes } =
        await madeCommanding(store);
      await showLamps({ t_hall: lampThing(), t_dark: lampThing({ isOnline: false }), t_gone: lampThing() });
      await showThings([{ thingId: "t_gone", isGone: true }]);
      const alertId = await addOnThing(allLamps);
      await showAlarm({ smokeAlarmState: "emergency" });
      assert.deepEqual(await receipts("t_hall"), [{ state: "queued", code: null, alertId }]);
      assert.deepEqual(await receipts("t_dark"), [{ state: "rejected", code: "offline", alertId }]);
      assert.deepEqual([await receipts("t_gone"), await receipts(alarmId)], [[], []]);
      const [{ commands, note, value } = {}, ...more] = await thingFirings();
      assert.deepEqual([value, note, more], ["alarm", "1 of 2 commands were refused", []]);
      assert.deepEqual(
        commands?.map(({ thingId, state }) => [thingId, state]),
        [
          ["t_dark", "rejected"],
          ["t_hall", "queued"],
        ],
      );
      assert.equal(wakes(), 1);
      await showAlarm({ smokeAlarmState: "emergency", name: "Cellar" });
      assert.equal((await receipts("t_hall")).length, 1);
    }));

  it("commands only the lamps of a room, one named thing, and none that was removed since", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, showAway, showLamps, receipts, firings, evaluationsOf, userId, account } =
        await madeCommanding(store);
      await showLamps({ t_hall: lampThing({ room: "Hall" }), t_attic: lampThing({ room: "Attic" }) });
      await showLamps({ t_door: lampThing({ kind: "switch" }), t_lost: lampThing({ kind: "switch" }) });
      const id = await add({
        ...allLamps,
        commands: [
          { kind: "light", room: "Hall", ...switchOn },
          { thingId: "t_lost", ...switchOn },
          { thingId: "t_door", ...switchOn },
        ],
      });
      await store.transaction((tx) => tx.things.setGone(userId, ["t_lost"], 1));
      await store.transaction((tx) => tx.things.trimGone(userId, account, 2, 0));
      await showAway("home");
      const [firing] = await firings();
      assert.deepEqual(
        firing?.commands?.map(({ thingId }) => thingId),
        ["t_hall", "t_door"],
      );
      assert.deepEqual(await receipts("t_attic"), []);
      assert.deepEqual(await evaluationsOf(id), ["home fired thing t_lost is not there any more"]);
    }));

  it("sends once when the transaction of its firing is run again", () =>
    onStore(sqliteHarness, async (store) => {
      const { addOnThing, showAlarm, showLamps, receipts, wakes } = await madeCommanding(repeating(store));
      await showLamps({ t_hall: lampThing() });
      await addOnThing(allLamps);
      await showAlarm({ smokeAlarmState: "emergency" });
      assert.equal((await receipts("t_hall")).length, 1);
      assert.equal(wakes(), 1);
    }));

  it("sends at most 200 commands to linked things for one change, and says so", () =>
    onStore(sqliteHarness, async (store) => {
      const reached: string[] = [];
      const made = await madeCommanding(store, { onLimitReached: (limit) => reached.push(limit) });
      const lamps = Array.from({ length: limits.linkedCommandsPerCause + 1 }, (_, i) => [
        `t_${i + 1_000}`,
        lampThing(),
      ]);
      await made.showLamps(Object.fromEntries(lamps));
      await made.addOnThing(allLamps);
      await made.addOnThing(allLamps);
      await made.showAlarm({ smokeAlarmState: "emergency" });
      const firings = await made.thingFirings();
      const note = "stopped at the limit alertCommandsPerCause";
      assert.deepEqual(
        firings.map((firing) => [firing.commands?.length, firing.note]),
        [
          [limits.linkedCommandsPerCause, note],
          [undefined, note],
        ],
      );
      assert.deepEqual(reached, ["alertCommandsPerCause"]);
      assert.deepEqual(await made.receipts(`t_${1_000 + limits.linkedCommandsPerCause}`), []);
    }));

  it("is explained and tried on history with its commands, without sending any", () =>
    onStore(sqliteHarness, async (store) => {
      const { alerts, accessScope, addOnThing, givenOnThing, showLamps, showAlarm, receipts } =
        await madeCommanding(store);
      await showLamps({ t_hall: lampThing() });
      await showAlarm({ smokeAlarmState: "emergency" });
      const period = { afterMs: 0, untilMs: Number.MAX_SAFE_INTEGER };
      const tried = await alerts.onThings.dryRun(accessScope, givenOnThing(allLamps), period);
      assert.equal(tried.firings.length, 1);
      assert.deepEqual(tried.commands, [{ thingId: "t_hall", command: { kind: "light", ...switchOn } }]);
      const { trigger } = await alerts.onThings.explain(accessScope, await addOnThing(allLamps));
      assert.deepEqual(trigger.commands, allLamps.commands);
      assert.deepEqual(await receipts("t_hall"), []);
    }));

  it("names things of its user, at most 100 with its targets, and no command that depends on the state", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, given, alerts, accessScope, showLamps, lamp } = await madeCommanding(store);
      await showLamps({ t_hall: lampThing() });
      const other = await makeHome(store, { name: "Bob" });
      await store.transaction((tx) => tx.things.put({ ...foreign, userId: other.userId, deviceId: other.devices[0]! }));
      const thing = (thingId: string) => ({ thingId, ...switchOn });
      await assert.rejects(add({ commands: [thing("t_bob")] }), { code: "unknown_thing" });
      const many = Array.from({ length: 100 }, () => thing("t_hall"));
      const refused = { code: "bad_parameter", parameter: "commands" };
      await assert.rejects(add({ commands: many }), refused);
      const warmer = { trait: "thermostat", command: "adjustTarget", params: { deltaCelsius: 1 } };
      await assert.rejects(add({ commands: [{ kind: "thermostat", ...warmer }] }), refused);
      const id = await add({ commands: many, targets: [], action: "note" });
      await alerts.redefine(accessScope, id, given({ targets: [{ deviceId: lamp, attributeName: "a", value: "b" }] }));
      assert.deepEqual((await alerts.find(accessScope, id)).commands, []);
    }));
});

const foreign = {
  ...{ thingId: "t_bob", key: "light/bob", source: "nest", kind: "light", room: null },
  ...{ descriptor: "{}", state: "{}", print: 0, samples: "{}", goneMs: null },
};

/** A store that runs the body of each transaction, rolls it back and runs it again, as after a serialisation failure. */
function repeating(store: OpenStore): OpenStore {
  const transaction = async <Result>(body: (tx: Transaction) => Promise<Result>, priority?: never): Promise<Result> => {
    const rolledBack = new Error("rolled back");
    await store
      .transaction(async (tx) => {
        await body(tx);
        throw rolledBack;
      }, priority)
      .catch((error) => {
        if (error !== rolledBack) throw error;
      });
    return store.transaction(body, priority);
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "transaction") return transaction;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
