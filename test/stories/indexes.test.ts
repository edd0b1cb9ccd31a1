import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { startChild } from "./child-service.ts";
import { assertMirrors } from "./expected-attributes.ts";
import { assertIndexHistory } from "./index-history.ts";
import { killableHouse } from "./killable-house.ts";
import { databases, eventually, world } from "./world.ts";

const kills = 4;
const stepsBetween = 500;
const stepsAtOnce = 4;

for (const database of databases) {
  describe(`indexes on ${database}`, () => {
    it("obey their rules over 2,000 random steps with kills", { timeout: 240_000 }, async (t) => {
      const house = await killableHouse(t, database);
      const { simulator, client, environment } = house;
      const account = simulator.addAccount({
        seed: 11,
        structures: [{ thermostats: 3, alarms: 3 }, { thermostats: 2 }],
      });
      let service = await startChild("serve", environment);
      t.after(() => service.process.kill("SIGKILL"));
      house.baseUrl = service.baseUrl;
      await house.signIn();
      const { body } = await client.federate("POST", account.token);
      const deviceId = Number(body.DeviceId);
      const isMirrored = async () => {
        const { body: map } = await client.largeStrings(deviceId);
        assertMirrors(await client.device(deviceId), simulator.document(account.accountId), map);
      };
      for (let round = 0; round < kills; round++) {
        for (let step = 0; step < stepsBetween; step += stepsAtOnce) {
          await simulator.playScene(account.accountId, { scene: "random", steps: stepsAtOnce, separately: true });
          // Most rounds end in the middle of something, and every kill does.
          if (step % (5 * stepsAtOnce) === 0) await eventually(t.signal, isMirrored);
        }
        service.process.kill("SIGKILL");
        await service.ended;
        service = await startChild("serve", environment);
        house.baseUrl = service.baseUrl;
        await eventually(t.signal, isMirrored);
      }
      service.process.kill("SIGTERM");
      await service.ended;
      const { BREEZEWAY_DATABASE_URL: url, BREEZEWAY_DATA: folder } = environment;
      const store = url ? await openPostgres({ url }) : await openSqlite({ folder: folder!, nowMs: Date.now });
      t.after(() => store.close());
      const log = await store.read((tx) => tx.log.tail({ transaction: 0, id: 0 }, 100_000));
      const counts = assertIndexHistory(log);
      t.diagnostic(`${log.length} log entries, ${counts.given} indexes given, ${counts.takenAway} taken away`);
      assert.ok(counts.given > 20);
    });

    it("show a replaced alarm in a full range at once", async (t) => {
      const story = await world(t, { database, structures: [{ thermostats: 1, alarms: 18 }] });
      const deviceId = await story.link();
      await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "1"));
      const before = await story.client.device(deviceId);
      await story.simulator.playScene(story.accountId, { scene: "add-alarm" });
      await eventually(t.signal, async () => {
        const { overLimit } = await story.client.linkStatus();
        assert.deepEqual(overLimit, { structures: 0, thermostats: 0, alarms: 1 });
      });
      assert.deepEqual((await story.client.device(deviceId)).attributes, before.attributes);
      await story.simulator.playScene(story.accountId, { scene: "remove-alarm", alarm: 5 });
      await eventually(t.signal, async () => {
        const { body: map } = await story.client.largeStrings(deviceId);
        const shown = await story.client.device(deviceId);
        assertMirrors(shown, story.simulator.document(story.accountId), map);
        assert.equal((await story.client.linkStatus()).overLimit.alarms, 0);
        assert.equal(shown.attributes.get("o.structures[1].totals.smokeCOAlarms")?.value, "18");
      });
    });
  });
}
