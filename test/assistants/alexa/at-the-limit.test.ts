import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { groupingMs } from "../../../src/assistants/reporter/changes.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import { onStore } from "../../contracts/store/harness.ts";
import { sqliteHarness } from "../../contracts/store/sqlite-harness.ts";
import { changed } from "../made-assistant.ts";
import { type LimitedHomePlan, limitedHome, things } from "./limited-home.ts";
import { onOff, thermostat, thing } from "./things.ts";

type Kind = keyof typeof things;

/** A home with so many things of each kind, which Alexa has listed. Their ids are those of their kind and a number. */
async function listedHome(store: OpenStore, counts: Partial<Record<Kind, number>>, plan: LimitedHomePlan = {}) {
  const made = await limitedHome(store, plan);
  for (const [kind, count] of Object.entries(counts) as [Kind, number][]) {
    for (let number = 0; number < count; number++) made.have(idOf(kind, number), things[kind]());
  }
  await made.discover();
  while (await made.report());
  made.told.length = 0;
  return made;
}

function idOf(kind: string, number: number): string {
  return `${kind}_${String(number).padStart(3, "0")}`;
}

const isChange = (one: string) => one.startsWith("ChangeReport");

describe("a home with all the endpoints that Alexa takes", () => {
  it("gives the place of a fan away once, and then tells the rest, also when the gateway is slow", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, report, told, refused } = await listedHome(store, { heater: 150 }, { answerMs: 1_200 });
      await add("heater_new", things.heater());
      assert.equal(await report(), false);
      const [removed, added, ...states] = told;
      assert.equal(removed, "DeleteReport heater_new:fan heater_149:fan");
      assert.match(added!, /^AddOrUpdateReport /);
      assert.deepEqual(added!.split(" ").slice(1).sort(), ["heater_149", "heater_new"]);
      assert.deepEqual(states.sort(), ["ChangeReport heater_149", "ChangeReport heater_new"]);
      assert.deepEqual(refused, []);
    }));

  it("removes others before it adds a new alarm, and then tells the alarm first", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, mark, report, told, refused } = await listedHome(store, { lamp: 300 });
      await mark("lamp_000", { stateMs: 1 });
      await add("alarm_new", things.alarm(), true);
      assert.equal(await report(), false);
      assert.deepEqual(told, [
        "DeleteReport lamp_299 lamp_299:fan",
        "AddOrUpdateReport alarm_new",
        "ChangeReport alarm_new",
        "ChangeReport lamp_000",
      ]);
      assert.deepEqual(refused, []);
    }));

  it("gives away the places of more things than one report reads, when all of them are removed", () =>
    onStore(sqliteHarness, async (store) => {
      const made = await listedHome(store, { lamp: 250, plug: 600 });
      const { home, key, customer, chosen, report, told, refused } = made;
      const gone = [...home.keys()].filter((id) => id < idOf("plug", 300));
      for (const id of gone) home.delete(id);
      // The marks of plugs are read first, and Alexa has no more than 50 of these.
      const marks = gone.map((thingId) => ({
        ...{ ...key, thingId, sinceMs: thingId.startsWith("plug") ? 1 : 2, syncMs: 1, isGone: true },
      }));
      await store.transaction((tx) => tx.assistantMarks.addAll(marks, 1));
      while (await report());
      assert.deepEqual([...customer.endpoints.keys()].sort(), chosen().toSorted());
      assert.equal(customer.endpoints.size, 300);
      assert.deepEqual(refused, []);
      const isRemoval = told.map((one) => one.startsWith("DeleteReport"));
      assert.ok(isRemoval.lastIndexOf(true) < told.findIndex((one) => one.startsWith("AddOrUpdateReport")));
    }));

  it("fills the room that Alexa has, alarms first, and is told again of the others only", () =>
    onStore(sqliteHarness, async (store) => {
      const { have, mark, customer, marks, report } = await listedHome(store, { lamp: 280 });
      for (let stray = 0; stray < 18; stray++)
        customer.endpoints.set(`s${stray}`, { endpointId: `s${stray}` } as never);
      const added = [...Array(19).keys()].map((number) => idOf("new", number));
      for (const id of [...added, "zz_alarm"]) {
        have(id, id === "zz_alarm" ? things.alarm() : things.lamp());
        await mark(id, { sinceMs: 1, stateMs: 1, syncMs: 1 });
      }
      while (await report());
      assert.ok(customer.endpoints.has("zz_alarm"));
      assert.equal(customer.endpoints.size, 300);
      const left = (await marks(16 * 60_000)).map(({ thingId }) => thingId);
      assert.deepEqual(
        left,
        added.filter((id) => !customer.endpoints.has(id)),
      );
    }));

  it("is told again of endpoints for which Alexa had no room", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, customer, mark, marks, report, grant, told, refused } = await listedHome(store, { lamp: 299 });
      // An endpoint of which the service does not know.
      customer.endpoints.set("stray", { endpointId: "stray" } as never);
      await add("lamp_new", things.lamp());
      while (await report());
      assert.deepEqual(refused, ["AddOrUpdateReport lamp_new"]);
      const [left, ...others] = await marks(16 * 60_000);
      const nowMs = await store.read((tx) => tx.clock.nowMs());
      assert.ok(left!.thingId === "lamp_new" && left!.syncMs! > nowMs && (await grant())!.dueMs! > nowMs);
      assert.equal(left!.stateMs, left!.syncMs, "its state is told with it");
      assert.deepEqual(others, []);
      customer.endpoints.delete("stray");
      told.length = 0;
      await mark("lamp_new", { stateMs: 1, syncMs: 1 });
      while (await report());
      assert.deepEqual(told, ["AddOrUpdateReport lamp_new", "ChangeReport lamp_new"]);
      assert.deepEqual([refused.length, (await grant())!.problem], [1, null]);
    }));
});

describe("a home that takes longer to tell than a report may", () => {
  it("is told to the end, in several reports", () =>
    onStore(sqliteHarness, async (store) => {
      const { mark, report, told } = await listedHome(store, { lamp: 60 }, { answerMs: 3_000 });
      await mark("", { stateMs: 1 });
      for (let reports = 0; reports < 5 && (await report()); reports++);
      assert.deepEqual(
        told.toSorted(),
        [...Array(60).keys()].map((number) => `ChangeReport ${idOf("lamp", number)}`),
      );
    }));
});

describe("an alarm that Alexa has, and that sounds", () => {
  it("is told before everything else, and once, while the whole list of devices is told", () =>
    onStore(sqliteHarness, async (store) => {
      const { mark, report, told, customer } = await listedHome(store, { alarm: 1, lamp: 3 }, { answerMs: 1_200 });
      await mark("", { stateMs: 1, syncMs: 1 });
      await mark("alarm_000", { stateMs: 1, isUrgent: true });
      while (await report());
      const isOfAlarm = (one: string) => one === "ChangeReport alarm_000";
      assert.ok(isOfAlarm(told[0]!), `first is ${told[0]}`);
      assert.equal(told.filter(isOfAlarm).length, 2, "the second one is for an alarm that the list adds");
      assert.equal(customer.endpoints.size, 4);
    }));

  it("is told also when its time has not come yet, because the clock was set back", () =>
    onStore(sqliteHarness, async (store) => {
      const { mark, report, told } = await listedHome(store, { alarm: 1 });
      await mark("alarm_000", { stateMs: Number.MAX_SAFE_INTEGER, isUrgent: true });
      assert.equal(await report(), false);
      assert.deepEqual(told, ["ChangeReport alarm_000"]);
    }));
});

describe("a new alarm", () => {
  it("is added before its state is told, although only the state is urgent", () =>
    onStore(sqliteHarness, async (store) => {
      const { have, mark, report, told, refused } = await listedHome(store, { lamp: 300 });
      have("alarm_new", things.alarm());
      const nowMs = await store.read((tx) => tx.clock.nowMs());
      await mark("alarm_new", { stateMs: nowMs + groupingMs, syncMs: nowMs + groupingMs, isBack: true });
      await mark("alarm_new", { stateMs: 1, isUrgent: true });
      await report();
      assert.deepEqual(told, [
        "DeleteReport lamp_299 lamp_299:fan",
        "AddOrUpdateReport alarm_new",
        "ChangeReport alarm_new",
      ]);
      assert.deepEqual(refused, []);
    }));
});

describe("a thing that Alexa has", () => {
  const heaterAlone = () => thing("thermostat", { thermostat: thermostat() });
  /** Alexa has both endpoints of a heater. Then the ecosystem or the trait map describes it otherwise. */
  const described = async (store: OpenStore, otherwise: ReturnType<typeof heaterAlone>) => {
    const made = await listedHome(store, { heater: 1, lamp: 1 });
    made.have("heater_000", otherwise);
    await made.log(changed("heater_000", "changed"));
    await made.feed();
    await made.mark("heater_000", { stateMs: 1, syncMs: 1 });
    while (await made.report());
    return made;
  };

  it("loses the endpoint that its description has no longer", () =>
    onStore(sqliteHarness, async (store) => {
      const { told, customer } = await described(store, heaterAlone());
      assert.deepEqual(told, [
        "DeleteReport heater_000:fan",
        "AddOrUpdateReport heater_000",
        "ChangeReport heater_000",
      ]);
      assert.deepEqual([...customer.endpoints.keys()].sort(), ["heater_000", "lamp_000"]);
    }));

  it("is deleted when Alexa has no interface for it any more", () =>
    onStore(sqliteHarness, async (store) => {
      const { told } = await described(store, thing("switch", onOff(true, true)));
      assert.deepEqual(told, ["DeleteReport heater_000 heater_000:fan"]);
    }));

  it("loses an endpoint while it was gone for a short time", () =>
    onStore(sqliteHarness, async (store) => {
      const { home, remove, add, report, told } = await listedHome(store, { heater: 1 });
      await remove("heater_000", "later");
      assert.ok(home.has("heater_000"));
      await add("heater_000", heaterAlone());
      while (await report());
      assert.equal(told[0], "DeleteReport heater_000:fan");
    }));

  it("is only added when it is new, and keeps its endpoints when only its state has changed", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, mark, report, told } = await listedHome(store, { heater: 1 });
      await add("lamp_new", things.lamp());
      await mark("heater_000", { stateMs: 1 });
      while (await report());
      assert.deepEqual(
        told.filter((one) => !isChange(one)),
        ["AddOrUpdateReport lamp_new"],
      );
    }));
});
