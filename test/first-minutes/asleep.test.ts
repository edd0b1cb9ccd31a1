import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { startCommand } from "../cli/long-running-command.ts";
import { runCommand } from "../cli/run-command.ts";
import { EventStream } from "../events/event-stream.ts";
import { type ChildService, startChild } from "../stories/child-service.ts";
import { killableDeployment } from "../stories/killable-deployment.ts";
import { eventually } from "../stories/world.ts";

const timeout = 60_000;
const skip = process.platform === "win32" ? "processes can't be put to sleep here" : false;
const smoke = "d.structures[1].d.smokeCoAlarms[1].smoke_alarm_state";

describe("a laptop that falls asleep", { skip }, () => {
  it("with the service on it: what happened at home meanwhile is reported once when it wakes", {
    timeout,
  }, async (t) => {
    const house = await killableDeployment(t, "sqlite");
    const { simulator } = house;
    const { accountId, token } = simulator.addAccount({ structures: [{ thermostats: 1, alarms: 1 }] });
    const service = await started(t, house);
    await house.signIn();
    const deviceId = Number((await house.client.federate("POST", token)).body.DeviceId) as DeviceId;
    const v3 = await house.authorizeClient();
    const reader = await EventStream.open(house.baseUrl, v3.accessToken);
    const sleepDuring = async (scene: string) => {
      service.process.kill("SIGSTOP");
      await simulator.playScene(accountId, { scene });
      service.process.kill("SIGCONT");
    };
    const told = () => reader.until(1, ({ data }) => data.name === smoke && data.value === "emergency");
    await sleepDuring("smoke");
    await told();

    // A longer sleep: the home has hung up meanwhile.
    service.process.kill("SIGSTOP");
    assert.equal(simulator.drop(accountId), 1);
    await sleepDuring("clear");
    await reader.until(2, ({ data }) => data.name === smoke);
    await eventually(t.signal, async () => {
      const { presenceInfo, stale, attributes } = await v3.device(deviceId);
      assert.deepEqual([presenceInfo, stale, attributes[smoke].value], [1, false, "ok"]);
    });
    const heard = reader.events.filter(({ data }) => data.name === smoke);
    assert.deepEqual(
      heard.map(({ data }) => data.value),
      ["emergency", "ok"],
    );
    reader.close();
  });

  it("with a reader on it: it wakes to a service that was killed, and misses nothing", { timeout }, async (t) => {
    const house = await killableDeployment(t, "sqlite");
    const { environment } = house;
    let service = await started(t, house);
    environment.BREEZEWAY_PORT = new URL(house.baseUrl).port;
    const lamp = ["device", "add", "--user", "1", "--name", "Lamp", "--type", "Lamp", "--json"];
    const { deviceId } = JSON.parse((await runCommand(lamp, { environment })).stdout);
    const v3 = await house.authorizeClient();
    const reader = startCommand(t, ["device", "watch", String(deviceId)], environment);
    assert.equal((await reader.next()).deviceName, "Lamp");
    await v3.write(deviceId, { count: "0" });
    assert.equal((await reader.next()).value, "0");

    reader.child.kill("SIGSTOP");
    for (let count = 1; count <= 10; count++) await v3.write(deviceId, { count: `${count}` });
    service.process.kill("SIGKILL");
    await service.ended;
    service = await started(t, house);
    for (let count = 11; count <= 20; count++) await v3.write(deviceId, { count: `${count}` });
    reader.child.kill("SIGCONT");
    for (let count = 1; count <= 20; count++) assert.equal((await reader.next()).value, `${count}`);
  });
});

async function started(t: TestContext, house: Awaited<ReturnType<typeof killableDeployment>>): Promise<ChildService> {
  const service = await startChild("serve", house.environment);
  house.baseUrl = service.baseUrl;
  t.after(() => service.process.kill("SIGKILL"));
  return service;
}
