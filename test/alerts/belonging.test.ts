import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Lane, type Mirrored } from "../../src/federation/lane.ts";
import { SampleTurns } from "../../src/federation/sample-turns.ts";
import { noThingMarks } from "../../src/federation/thing-marks.ts";
import { removeLink } from "../../src/federation/unlinking.ts";
import type { Home } from "../../src/home/home.ts";
import { removeHome } from "../../src/identity/removal.ts";
import { UnknownTrigger } from "../../src/model/errors.ts";
import { removeDevice } from "../../src/provisioning/operator-devices.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { emptyIndexMap } from "../../src/virtual-device/index-map.ts";
import { onStore } from "../contracts/store/harness.ts";
import { linkOf, node } from "../contracts/store/home.ts";
import { postgresHarness } from "../contracts/store/postgres-harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";
import { alarm, homeWith, many, structure, thermostat } from "../home/home-parts.ts";
import { plainThingIds } from "../home/thing-ids.ts";
import { missingPostgres } from "../set-up/postgres.ts";
import { madeAlerts, target } from "./made-alerts.ts";
import { madeThingAlerts } from "./made-thing-alerts.ts";

for (const harness of [sqliteHarness, postgresHarness]) {
  const skip = harness.kind === "postgres" ? (missingPostgres() ?? false) : false;
  describe(`an alert on ${harness.kind} belongs to what it watches`, { skip }, () => {
    it("and is removed with its device, its link or its user, and with nothing else", () =>
      onStore(harness, async (store) => {
        const ada = await madeAlerts(store);
        const bob = await madeAlerts(store, { name: "Bob" });
        const [lamp, other] = ada.devices;
        const ofLamp = await ada.add({ deviceId: lamp!, attributeName: "power" });
        const ofOther = await ada.add({ deviceId: other!, attributeName: "power" });
        const ofAccount = await ada.add({ targets: [target(other!, "power", "on")] });
        const ofBob = await bob.add();
        const gone = (id: typeof ofLamp) => assert.rejects(ada.alerts.find(ada.accessScope, id), UnknownTrigger);

        await removeDevice(store, { forget() {} }, ada.userId, lamp!);
        await gone(ofLamp);
        const link = linkOf({ ...ada, devices: [ada.account] }, node("A"));
        await store.transaction((tx) => tx.links.add(link));
        const { removed } = await removeLink(store, ada.userId, "nest");
        assert.equal(removed.alerts, 1);
        await gone(ofAccount);
        assert.equal((await ada.alerts.find(ada.accessScope, ofOther)).id, ofOther);
        const home = await store.transaction((tx) => removeHome(tx, ada.userId));
        assert.equal(home.alerts, 1);
        await gone(ofOther);
        assert.equal((await bob.alerts.find(bob.accessScope, ofBob)).id, ofBob);
      }));

    it("and is removed with its thing when the link or the user of the thing is removed", () =>
      onStore(harness, async (store) => {
        const ada = await madeThingAlerts(store);
        const bob = await madeThingAlerts(store, { name: "Bob" });
        const [ofAda, ofBob] = [await ada.addOnThing(), await bob.addOnThing()];
        await store.transaction((tx) => tx.links.add(linkOf({ ...ada, devices: [ada.account] }, node("A"))));
        assert.equal((await removeLink(store, ada.userId, "nest")).removed.alerts, 1);
        await assert.rejects(ada.alerts.onThings.find(ada.accessScope, ofAda), UnknownTrigger);
        assert.equal((await bob.alerts.onThings.find(bob.accessScope, ofBob)).id, ofBob);
        assert.equal((await store.transaction((tx) => removeHome(tx, bob.userId))).alerts, 1);
        await assert.rejects(bob.alerts.onThings.find(bob.accessScope, ofBob), UnknownTrigger);
      }));

    it("and is disabled, with the reason, when its slot passes to another device", () =>
      onStore(harness, async (store) => {
        const made = await madeAlerts(store);
        const { add, alerts, accessScope, firings } = made;
        const offer = await laneOf(store, made);
        const home = (alarms: ReturnType<typeof many<ReturnType<typeof alarm>>>) =>
          homeWith({ structures: { home: structure() }, alarms });
        const all = many(18, "a", () => alarm("home"));
        await offer(home(all));
        const smoke = (y: number) => `d.structures[1].d.smokeCoAlarms[${y}].smoke_alarm_state`;
        const onLost = await add({ attributeName: smoke(1), operation: "regex", stringThreshold: "emergency" });
        const onKept = await add({ attributeName: smoke(2), operation: "regex", stringThreshold: "emergency" });
        // All slots are taken, the first alarm is gone, and a new alarm that reports smoke takes its slot.
        await offer(home(all.slice(1)));
        const newcomer = alarm("home", { smokeAlarmState: "emergency" });
        await offer(home([...all.slice(1), ["new", newcomer]]));
        const lost = await alerts.find(accessScope, onLost);
        assert.deepEqual([lost.isEnabled, lost.reason], [false, `${smoke(1)} has passed to another device`]);
        assert.match((await alerts.explain(accessScope, onLost)).sentence, /has passed to another device/);
        assert.equal((await alerts.find(accessScope, onKept)).isEnabled, true);
        assert.deepEqual(await firings(), []);
      }));

    it("and stays enabled when its thing loses its slot, unless the alert writes to a lost slot", () =>
      onStore(harness, async (store) => {
        const made = await madeThingAlerts(store);
        const { account, alerts, accessScope, addOnThing, thingFirings } = made;
        const offer = await laneOf(store, made);
        const thermostats = many(20, "t", () => thermostat("home"));
        const alarms = many(18, "a", () => alarm("home"));
        const home = (parts: { readonly alarms?: typeof alarms; readonly thermostats?: typeof thermostats }) =>
          homeWith({ structures: { home: structure() }, alarms, thermostats, ...parts });
        await offer(home({}));
        const thingId = plainThingIds(made.userId, "nest", "alarm/a01");
        const fan = (y: number) => `d.structures[1].d.thermostats[${y}].fan_timer_active.requestWrite`;
        const watching = await addOnThing({ thingId, action: "note", targets: [] });
        const writing = await addOnThing({ thingId, targets: [target(account, fan(1), "true")] });
        const writingKept = await addOnThing({ thingId, targets: [target(account, fan(2), "true")] });
        // All slots are taken, the first alarm and the first thermostat are gone, and new ones take their slots.
        await offer(home({ alarms: alarms.slice(1), thermostats: thermostats.slice(1) }));
        await offer(
          home({
            alarms: [...alarms.slice(1), ["new", alarm("home", { smokeAlarmState: "emergency" })]],
            thermostats: [...thermostats.slice(1), ["new", thermostat("home")]],
          }),
        );
        const find = (id: typeof watching) => alerts.onThings.find(accessScope, id);
        assert.deepEqual(
          [(await find(watching)).isEnabled, (await find(writing)).isEnabled, (await find(writingKept)).isEnabled],
          [true, false, true],
        );
        assert.equal((await find(writing)).reason, `${fan(1)} has passed to another device`);
        assert.deepEqual(await thingFirings(), [], "the alarm that has the slot now is another thing");
        // The first alarm is back, without a slot.
        await offer(
          home({
            alarms: [
              ["a01", alarm("home", { smokeAlarmState: "emergency" })],
              ...alarms.slice(1),
              ["new", alarm("home")],
            ],
          }),
        );
        assert.deepEqual(
          (await thingFirings()).map(({ alert }) => alert),
          [watching, writingKept],
        );
      }));
  });
}

/** Links the user's account. Returns a function that offers a snapshot to the lane and waits until it is committed. */
async function laneOf(
  store: OpenStore,
  { userId, account, commit }: Pick<Awaited<ReturnType<typeof madeAlerts>>, "userId" | "account" | "commit">,
) {
  const link = linkOf({ tenantId: 1, userId, devices: [account] } as never, node("A"));
  const ownership = (await store.transaction((tx) => tx.links.add(link)))!;
  const mirrored: Mirrored = { indexMap: emptyIndexMap, notices: "", values: [], things: noThingMarks };
  const runtime = manualRuntime();
  const lane = new Lane(
    {
      link: { userId, deviceId: account, ecosystem: "nest", ownership },
      commit,
      load: async () => mirrored,
      thingIdOf: plainThingIds,
      sampleTurns: new SampleTurns(runtime),
      stored: () => undefined,
      snapshotDropped: () => assert.fail("a snapshot was dropped"),
      lost: () => assert.fail("the lane lost its link"),
      failed: (error) => assert.ifError(error),
      runtime,
    },
    mirrored,
  );
  return async (home: Home) => {
    lane.offer(home, new AbortController().signal);
    await lane.idle();
  };
}
