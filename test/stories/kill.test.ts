import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { startSimulator } from "../../simulator/simulator.ts";
import { sharedCluster } from "../set-up/postgres.ts";
import { breezeway, type ChildService, startChild } from "./child-service.ts";
import { assertMirrors } from "./expected-attributes.ts";
import { PlatformClient } from "./platform-client.ts";
import { type Database, databases, eventually, person } from "./world.ts";

for (const database of databases) {
  describe(`a service on ${database} that is killed`, () => {
    it("keeps all that it acknowledged, its indexes too, and catches up", { timeout: 120_000 }, async (t) => {
      const { simulator, environment, appId } = await house(t, database);
      const account = simulator.addAccount({ structures: [{ thermostats: 4, alarms: 4 }] });
      let service = await startKillable(t, environment);
      const client = new PlatformClient(() => service.baseUrl);
      await client.login(person.name, person.password, appId);
      const { body } = await client.federate("POST", account.token);
      const deviceId = Number(body.DeviceId);
      const places = new Map<string, string>();
      for (let round = 1; round <= 5; round++) {
        await simulator.playScene(account.accountId, { scene: "random", steps: 20, separately: true });
        service.process.kill("SIGKILL");
        assert.equal(await service.ended, "SIGKILL");
        await simulator.playScene(account.accountId, { scene: "random", steps: 10 });
        service = await startKillable(t, environment);
        await eventually(t.signal, async () => {
          const { body: map } = await client.largeStrings(deviceId);
          assertMirrors(await client.device(deviceId), simulator.document(account.accountId), map);
        });
        for (const [name, { value }] of (await client.device(deviceId)).attributes) {
          if (!name.endsWith(".device_id") && !name.endsWith(".structure_id")) continue;
          // Nothing here fills a range, so whoever has an index has it for good.
          assert.equal(places.get(name) ?? value, value, `${name} was given to another`);
          places.set(name, value);
        }
      }
    });

    it("has linked an account wholly or not at all", { timeout: 120_000 }, async (t) => {
      const { simulator, environment, appId } = await house(t, database);
      const account = simulator.addAccount({ structures: [{ thermostats: 20, alarms: 18 }] });
      for (let round = 0; round < 4; round++) {
        const service = await startKillable(t, environment);
        const client = new PlatformClient(() => service.baseUrl);
        await client.login(person.name, person.password, appId);
        const linking = client.federate("POST", account.token).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 4 * round));
        service.process.kill("SIGKILL");
        const answer = await linking;
        await service.ended;

        const again = await startKillable(t, environment);
        const reader = new PlatformClient(() => again.baseUrl);
        await reader.login(person.name, person.password, appId);
        const list = await reader.call("getDeviceList", { secToken: reader.secToken });
        const devices: { devId: string }[] = list.getDeviceListResponse.devList ?? [];
        assert.ok(answer?.status !== 200 || devices.length === 1, "an acknowledged link was lost");
        for (const { devId } of devices) {
          const { body: map } = await reader.largeStrings(Number(devId));
          assertMirrors(await reader.device(Number(devId)), simulator.document(account.accountId), map);
        }
        again.process.kill("SIGKILL");
        await again.ended;
      }
    });
  });
}

async function house(t: TestContext, database: Database) {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-kill-"));
  const simulator = await startSimulator({ port: 0 });
  t.after(async () => {
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const environment: Record<string, string> = {
    BREEZEWAY_DATA: folder,
    BREEZEWAY_PORT: "0",
    BREEZEWAY_LOG_LEVEL: "silent",
    BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest: { protocol: "nest", apiUrl: simulator.url } }),
  };
  if (database === "postgres") environment.BREEZEWAY_DATABASE_URL = await (await sharedCluster()).createDatabase();
  const tenant = await breezeway(["tenant", "add", "--name", "Story", "--json"], { environment });
  const appId = JSON.parse(tenant.stdout).tenantId as number;
  const user = ["user", "add", "--tenant", "Story", "--name", person.name];
  const added = await breezeway(user, { environment, input: `${person.password}\n` });
  assert.equal(added.code, 0, added.stderr);
  return { simulator, environment, appId };
}

async function startKillable(t: TestContext, environment: Record<string, string>): Promise<ChildService> {
  const service = await startChild("serve", environment);
  t.after(() => service.process.kill("SIGKILL"));
  return service;
}
