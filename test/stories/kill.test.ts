import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rounds } from "../set-up/extent.ts";
import { assertMirrors } from "./expected-attributes.ts";
import { killableDeployment } from "./killable-deployment.ts";
import { eventually, longSuiteOn } from "./world.ts";

for (const database of longSuiteOn("sqlite")) {
  describe(`a service on ${database} that is killed`, () => {
    it("keeps everything that it acknowledged, also indexes, and catches up", { timeout: 120_000 }, async (t) => {
      const house = await killableDeployment(t, database);
      const { simulator, client, nodes } = house;
      const account = simulator.addAccount({ structures: [{ thermostats: 4, alarms: 4 }] });
      await nodes.start();
      await house.signIn();
      const { body } = await client.federate("POST", account.token);
      const deviceId = Number(body.DeviceId);
      const places = new Map<string, string>();
      for (let round = 1; round <= rounds({ all: 5, few: 1 }); round++) {
        await simulator.playScene(account.accountId, { scene: "random", steps: 20, separately: true });
        await nodes.kill();
        await simulator.playScene(account.accountId, { scene: "random", steps: 10 });
        await nodes.start();
        await eventually(t.signal, async () => {
          const { body: map } = await client.largeStrings(deviceId);
          assertMirrors(await client.device(deviceId), simulator.document(account.accountId), map);
        });
        for (const [name, { value }] of (await client.device(deviceId)).attributes) {
          if (!name.endsWith(".device_id") && !name.endsWith(".structure_id")) continue;
          // No range is full here, so no index may pass to another id.
          assert.equal(places.get(name) ?? value, value, `${name} passed to another id`);
          places.set(name, value);
        }
      }
    });

    it("has linked an account completely or not at all", { timeout: 120_000 }, async (t) => {
      const house = await killableDeployment(t, database);
      const { simulator, client, nodes } = house;
      const account = simulator.addAccount({ structures: [{ thermostats: 20, alarms: 18 }] });
      for (const killedAfterMs of [4, 0, 8, 12].slice(0, rounds({ all: 4, few: 1 }))) {
        await nodes.start();
        await house.signIn();
        const linking = client.federate("POST", account.token).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, killedAfterMs));
        const killed = nodes.kill();
        const answer = await linking;
        await killed;

        await nodes.start();
        const list = await client.call("getDeviceList", { secToken: client.secToken });
        const devices: { devId: string }[] = list.getDeviceListResponse.devList ?? [];
        assert.ok(answer?.status !== 200 || devices.length === 1, "an acknowledged link was lost");
        for (const { devId } of devices) {
          const { body: map } = await client.largeStrings(Number(devId));
          assertMirrors(await client.device(Number(devId)), simulator.document(account.accountId), map);
        }
        await nodes.kill();
      }
    });
  });
}
