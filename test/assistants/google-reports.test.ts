import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deployments, eventually, longSuiteOn } from "../stories/world.ts";
import { googleWorld, isReported as isReportedTo, type Json } from "./google-world.ts";

const alarmType = "action.devices.types.SMOKE_DETECTOR";

/** A linked Google account that has heard the state of every device. */
async function reportedWorld(t: Parameters<typeof googleWorld>[0], plan: Parameters<typeof googleWorld>[1] = {}) {
  const made = await googleWorld(t, plan);
  const { user, devices } = await made.synced();
  const isReported = () => isReportedTo(made.google, user, t.signal);
  await isReported();
  const alarm = devices.find(({ type }) => type === alarmType).id as string;
  return { ...made, user, devices, alarm, isReported };
}

for (const database of longSuiteOn("sqlite", deployments)) {
  describe(`a report to Home Graph on ${database}`, () => {
    it("shows after every change what QUERY shows, with a notification at each alarm", async (t) => {
      const { story, graph, user, alarm, isReported } = await reportedWorld(t, { database });
      const play = (scene: string, more: object = {}) => story.simulator.playScene(story.accountId, { scene, ...more });
      await play("smoke");
      await eventually(t.signal, async () => assert.equal(user.notifications.length, 1));
      assert.deepEqual(user.notifications[0], {
        id: alarm,
        notification: { SensorState: { priority: 0, name: "SmokeLevel", currentSensorState: "smoke detected" } },
      });
      await play("co-warning");
      await eventually(t.signal, async () => assert.equal(user.notifications.length, 2));
      await play("co-emergency");
      await eventually(t.signal, async () => assert.equal(user.notifications.length, 3));
      await play("co-warning");
      await eventually(t.signal, async () => assert.match(JSON.stringify(user.states.get(alarm)), /"high"/));
      await play("clear");
      await play("drift");
      await isReported();
      const text = "an alarm that becomes a warning, and the end of an alarm, are states and no notifications";
      assert.equal(user.notifications.length, 3, text);
      const { deliveries } = (await story.service.parts.administration.run("outlet deliveries", {
        outlet: (await story.service.parts.assistants.outlets.list())[0]!.id,
      })) as Json;
      assert.ok(deliveries.every(({ outcome }: Json) => outcome === "taken"));
      assert.ok(!JSON.stringify(deliveries).includes("ya29."));
      assert.ok(graph.callsOf("token").length <= story.nodes.length, "a node keeps its token");
    });

    it("asks Google to sync when a thing is added, renamed or removed, and removes a thing late", async (t) => {
      const { story, graph, user, isReported } = await reportedWorld(t, { database });
      const play = (scene: string, more: object = {}) => story.simulator.playScene(story.accountId, { scene, ...more });
      const syncs = () => graph.callsOf("requestSync").length;
      const before = [syncs(), user.devices.size];
      await play("rename", { thermostat: 1, name: "Attic" });
      await eventually(t.signal, async () => assert.ok(syncs() > before[0]!));
      await play("add-structure", { thermostats: 1 });
      await eventually(t.signal, async () => assert.ok(user.devices.size > before[1]!));
      await isReported();
      const known = user.devices.size;
      await play("remove-thermostat", { thermostat: 1 });
      await eventually(t.signal, async () => {
        assert.ok([...user.states.values()].some(({ online }) => online === false));
      });
      await isReported();
      assert.equal(user.devices.size, known, "it is offline, and not deleted yet");
    });

    it("is repeated until Google takes it, with another token when Google refuses one", async (t) => {
      const { story, graph, google, user, alarm, isReported } = await reportedWorld(t, { database });
      const play = (scene: string) => story.simulator.playScene(story.accountId, { scene });
      graph.endTokens();
      await play("smoke");
      await eventually(t.signal, async () => assert.equal(user.notifications.length, 1));
      for (const fault of [
        { status: 503, times: 2 },
        { status: 429, retryAfterSeconds: 1, times: 1 },
        { isDown: true, times: 1 },
      ]) {
        graph.inject({ method: "reportStateAndNotification", ...fault } as never);
        const told = user.notifications.length;
        await play("clear");
        await eventually(t.signal, async () => {
          assert.doesNotMatch(JSON.stringify(await google.query(alarm)), /"(smoke|carbon monoxide) detected"/);
        });
        await play("co-emergency");
        await eventually(t.signal, async () => assert.ok(user.notifications.length > told));
        await isReported();
      }
      const silence = graph.inject({ method: "reportStateAndNotification", status: 400, times: 1 });
      await play("clear");
      await eventually(t.signal, async () => {
        const refused = graph.callsOf("reportStateAndNotification").filter(({ status }) => status === 400);
        assert.equal(refused.length, 1);
      });
      silence();
      await play("smoke");
      await isReported();
      assert.match(JSON.stringify(user.states.get(alarm)), /smoke detected/);
    });

    it("is not sent when Google does not know the user, and not after DISCONNECT, which ends the token too", async (t) => {
      const { story, graph, outlet, google, synced, user, alarm } = await reportedWorld(t, { database });
      const play = (scene: string) => story.simulator.playScene(story.accountId, { scene });
      const { assistants, administration } = story.service.parts;
      const outletId = outlet.outlet as string;
      const reports = () => graph.callsOf("reportStateAndNotification").length;
      graph.users.delete(user.agentUserId);
      await play("smoke");
      await eventually(t.signal, async () => assert.equal(await assistants.grants.countOfOutlet(outletId), 0));
      const { deliveries } = (await administration.run("outlet deliveries", { outlet: outletId })) as Json;
      assert.equal(deliveries[0].outcome, "forgotten");

      const again = await synced();
      await eventually(t.signal, async () =>
        assert.match(JSON.stringify(again.user.states.get(alarm)), /smoke detected/),
      );
      assert.deepEqual(await google.intent("DISCONNECT"), {});
      assert.equal((await google.call({ requestId: "1", inputs: [{ intent: "action.devices.SYNC" }] })).status, 401);
      const sent = reports();
      await play("clear");
      await play("co-emergency");
      await eventually(t.signal, async () => {
        const things = await assistants.homes.all(story.userId);
        assert.ok(things.some(({ traits }) => traits.carbonMonoxide?.state.state === "alarm"));
      });
      await assistants.reporter.sweep(t.signal);
      assert.equal(reports(), sent);
      assert.equal(await assistants.grants.countOfOutlet(outletId), 0);
    });
  });
}
