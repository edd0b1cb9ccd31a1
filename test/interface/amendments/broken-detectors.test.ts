import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { HomeGraph } from "../../../simulator/google-home/home-graph.ts";
import type { HomeAssistant } from "../../../simulator/home-assistant/simulator.ts";
import { addOutlet, GoogleAccount, isReported, syncWith } from "../../assistants/google-world.ts";
import { EventStream } from "../../events/event-stream.ts";
import { linkedInstance } from "../../stories/linked-instance.ts";
import { json } from "../../stories/smoke-alerts.ts";
import { clientOfUser } from "../../stories/v3-client.ts";
import { eventually, person } from "../../stories/world.ts";

describe("settled: a detector that says that it is broken is not fine", () => {
  it("is not available, not online and offline for assistants while it has a fault", async (t) => {
    const { simulator, shown, heardBy } = await kitchenAlarm(t);
    assert.deepEqual(await shown(), { available: [true, true], fault: [false, false], online: "true", smoke: "ok" });
    const google = await heardBy();
    assert.equal((await google.state()).online, true);
    simulator.instance.change("binary_sensor.kitchen_fault", "on");
    const broken = { available: [false, false], fault: [true, true], online: "false", smoke: "ok" };
    await eventually(t.signal, async () => assert.deepEqual(await shown(), broken));
    await google.isReported();
    assert.equal((await google.state()).online, false);
    simulator.instance.change("binary_sensor.kitchen_fault", "off");
    await eventually(t.signal, async () => assert.deepEqual((await shown()).available, [true, true]));
    await google.isReported();
    assert.equal((await google.state()).online, true);
  });

  it("concerns one half if the entity is named after it", async (t) => {
    const { simulator, shown } = await kitchenAlarm(t, "CO test");
    simulator.instance.change("binary_sensor.kitchen_fault", "on");
    const broken = { available: [true, false], fault: [null, true], online: "false", smoke: "ok" };
    await eventually(t.signal, async () => assert.deepEqual(await shown(), broken));
  });

  it("shows, evaluates and tells an alarm whatever fault, mute and test say", async (t) => {
    const { simulator, client, thingId, shown, heardBy, stream, alertId } = await kitchenAlarm(t);
    const google = await heardBy();
    for (const condition of ["fault", "end_of_service", "test_in_progress", "muted"]) {
      simulator.instance.change(`binary_sensor.kitchen_${condition}`, "on");
    }
    await eventually(t.signal, async () => {
      const { fault, endOfLife, testing, muted } = await client.state(thingId, "smoke");
      assert.deepEqual([fault, endOfLife, testing, muted], [true, true, true, true]);
    });
    simulator.instance.change("binary_sensor.kitchen_smoke", "on");
    const [event] = await stream.until(1, ({ data }) => data.fields?.["smoke.state"] !== undefined);
    assert.equal(event!.data.fields["smoke.state"].value, "alarm");
    const [firing] = await stream.until(1, ({ name, data }) => name === "alert" && data.alert === alertId);
    assert.equal(firing!.data.value, "alarm");
    await eventually(t.signal, async () => {
      const { available, online, smoke } = await shown();
      assert.deepEqual([available, online, smoke], [[false, false], "false", "emergency"]);
    });
    await google.isReported();
    const { currentSensorStateData } = await google.state();
    assert.deepEqual(currentSensorStateData[0], { name: "SmokeLevel", currentSensorState: "smoke detected" });
  });

  it("fires an alert on its fault, once", async (t) => {
    const { simulator, v3, thingId, stream } = await kitchenAlarm(t);
    const rule = { thingId, field: "smoke.fault", operation: "equals", stringThreshold: "true", action: "notify" };
    const { status, body } = await v3.call("/alerts", json("POST", { ...rule, autoDisarm: true }));
    assert.equal(status, 201, JSON.stringify(body));
    simulator.instance.change("binary_sensor.kitchen_fault", "on");
    const isFiring = ({ name, data }: { name: string; data: { alert?: number } }) => {
      return name === "alert" && data.alert === body.alertId;
    };
    await stream.until(1, isFiring);
    simulator.hangUp();
    await eventually(t.signal, async () => assert.equal(simulator.connections.size, 1));
    simulator.instance.change("binary_sensor.kitchen_smoke", "on");
    await stream.until(1, ({ data }) => data.fields?.["smoke.state"] !== undefined);
    assert.equal(stream.events.filter(isFiring).length, 1);
  });
});

/** A linked home whose alarm in the kitchen tells its conditions. `faultName`: what Home Assistant calls its fault. */
async function kitchenAlarm(t: TestContext, faultName = "Hardware fault") {
  const linked = await linkedInstance(t);
  const { simulator, story, client, attributes } = linked;
  addConditions(simulator, faultName);
  const [{ thingId }] = await client.ofKind("alarm");
  const shown = async () => {
    const [smoke, carbonMonoxide] = [
      await client.state(thingId, "smoke"),
      await client.state(thingId, "carbonMonoxide"),
    ];
    const attribute = await attributes();
    const alarm = (name: string) => attribute[`d.structures[1].d.smokeCoAlarms[1].${name}`];
    return {
      available: [smoke.available, carbonMonoxide.available],
      fault: [smoke.fault, carbonMonoxide.fault],
      online: alarm("is_online"),
      smoke: alarm("smoke_alarm_state"),
    };
  };
  await eventually(t.signal, async () => assert.equal((await shown()).fault[1], false));
  const v3 = await clientOfUser(() => story.service, "Story", person, "devices:read devices:control alerts");
  const rule = { thingId, field: "smoke.state", operation: "equals", stringThreshold: "alarm", action: "notify" };
  const { status, body } = await v3.call("/alerts", json("POST", { ...rule, autoDisarm: true }));
  assert.equal(status, 201, JSON.stringify(body));
  const stream = await EventStream.open(story.service.baseUrl, v3.accessToken, { query: "?things=true" });
  const heardBy = () => googleHome(t, linked, thingId);
  return { ...linked, thingId: thingId as string, shown, v3, stream, alertId: body.alertId as number, heardBy };
}

function addConditions({ instance }: HomeAssistant, faultName: string): void {
  const { device_id } = instance.entities.get("binary_sensor.kitchen_smoke")!;
  const add = (key: string, device_class: string | undefined, original_name: string) => {
    const attributes = { friendly_name: `Kitchen Protect ${original_name}`, ...(device_class && { device_class }) };
    const entry = { device_id, original_name, has_entity_name: true, entity_category: "diagnostic" } as const;
    instance.addEntity(`binary_sensor.kitchen_${key}`, "off", attributes, {
      ...entry,
      ...(key !== "fault" && { translation_key: key }),
    });
  };
  add("fault", "problem", faultName);
  add("end_of_service", "problem", "End of service");
  add("test_in_progress", "running", "Test in progress");
  add("muted", undefined, "Muted");
}

/** A user's Google Home, which was told the state of every device. */
async function googleHome(
  t: TestContext,
  { story }: Pick<Awaited<ReturnType<typeof linkedInstance>>, "story">,
  thingId: string,
) {
  const graph = await HomeGraph.start();
  t.after(() => graph.stop());
  const outlet = await addOutlet(story.service.parts.administration, graph);
  const account = await GoogleAccount.link(() => story.service.baseUrl, outlet);
  const { user } = await syncWith(account, graph, t.signal);
  return {
    isReported: () => isReported(account, user, t.signal),
    state: async () => (await account.query(thingId))[thingId],
  };
}
