import assert from "node:assert/strict";
import { describe } from "node:test";
import { statementsOn } from "../set-up/sample.ts";
import { assertMirrors } from "./expected-attributes.ts";
import { deployments, eventually, world } from "./world.ts";

for (const database of deployments) {
  describe(`a linked account on ${database}`, () => {
    const statements = statementsOn(database, { everyNth: 3 });
    statements.it("is filled when POST answers, and live soon after", async (t) => {
      const story = await world(t, { database, structures: [{ name: "Home", thermostats: 2, alarms: 1 }] });
      const { status, body } = await story.client.federate("POST", story.accountToken);
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ["DeviceId"]);
      assert.match(String(body.DeviceId), /^[1-9][0-9]*$/);
      const deviceId = Number(body.DeviceId);
      const { body: map } = await story.client.largeStrings(deviceId);
      assertMirrors(await story.client.device(deviceId), story.simulator.document(story.accountId), map);
      await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "1"));
    });

    statements.it(
      "mirrors a whole account exactly: 2 structures, 40 thermostats, 36 alarms, all 519 attributes",
      async (t) => {
        const story = await world(t, {
          database,
          structures: [
            { name: "Town house", thermostats: 20, alarms: 18 },
            { name: "Summer house", thermostats: 20, alarms: 18 },
          ],
        });
        const deviceId = await story.link();
        const shown = await story.client.device(deviceId);
        // All except the 40 requestWrite attributes, which are empty until a client writes them.
        assert.equal(shown.attributes.size, 519 - 40);
        const { body: map } = await story.client.largeStrings(deviceId);
        assertMirrors(shown, story.simulator.document(story.accountId), map);
        assert.equal(Object.keys(map.identifiers).length, 2 + 76);
      },
    );

    statements.it("follows a scene, and gives all attributes of one change the same time", async (t) => {
      const story = await world(t, { database, structures: [{ thermostats: 1, alarms: 2 }] });
      const deviceId = await story.link();
      const before = await story.client.device(deviceId);
      await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "1"));
      await story.simulator.playScene(story.accountId, { scene: "smoke" });
      await eventually(t.signal, async () => {
        const { attributes } = await story.client.device(deviceId);
        assert.equal(attributes.get("o.structures[1].emergencies.smoke")?.value, "true");
      });
      const after = await story.client.device(deviceId);
      const touched = [...after.attributes].filter(([name, { value }]) => before.attributes.get(name)?.value !== value);
      assert.deepEqual(touched.map(([name]) => name.replace(/\[\d\]\.(\w+)$/, "[Y].$1")).sort(), [
        "d.structures[1].d.smokeCoAlarms[Y].smoke_alarm_state",
        "d.structures[1].d.smokeCoAlarms[Y].ui_color_state",
        "o.structures[1].emergencies.all",
        "o.structures[1].emergencies.smoke",
      ]);
      const times = new Set(touched.map(([, { updTime }]) => updTime));
      assert.equal(times.size, 1);
      assert.ok([...times][0]! > before.attributes.get("o.totalStructures")!.updTime);
    });

    statements.it("keeps everything over a restart: values, times and indexes", async (t) => {
      const story = await world(t, { database, structures: [{ thermostats: 3, alarms: 2 }] });
      const deviceId = await story.link();
      const before = await story.client.device(deviceId);
      const { body: map } = await story.client.largeStrings(deviceId);
      await story.restart();
      assert.deepEqual((await story.client.device(deviceId)).attributes, before.attributes);
      assert.deepEqual((await story.client.largeStrings(deviceId)).body, map);
      await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "1"));
      assert.deepEqual((await story.client.device(deviceId)).attributes, before.attributes);
    });

    statements.it("catches up with what changed while the service was down", async (t) => {
      const story = await world(t, { database, structures: [{ thermostats: 1, alarms: 1 }] });
      const deviceId = await story.link();
      await story.service.stop();
      await story.simulator.playScene(story.accountId, { scene: "leave" });
      await story.simulator.playScene(story.accountId, { scene: "rename", structure: 1, name: "Renamed" });
      await story.restart();
      await eventually(t.signal, async () => {
        const shown = await story.client.device(deviceId);
        const { body: map } = await story.client.largeStrings(deviceId);
        assert.deepEqual(Object.keys(map.labels), ["Renamed"]);
        assertMirrors(shown, story.simulator.document(story.accountId), map);
      });
    });

    statements.it(
      "answers 118 to a second POST, 119 to a PUT before the first, and replaces the token by PUT",
      async (t) => {
        const story = await world(t, { database });
        const unlinked = await story.client.federate("PUT", story.accountToken);
        assert.deepEqual([unlinked.status, unlinked.body.errorCode], [404, 119]);
        const deviceId = await story.link();
        const second = await story.client.federate("POST", story.accountToken);
        assert.deepEqual([second.status, second.body.errorCode], [409, 118]);

        const newToken = story.simulator.issueToken(story.accountId);
        const replaced = await story.client.federate("PUT", newToken, "NEST");
        assert.deepEqual([replaced.status, replaced.body], [200, { DeviceId: String(deviceId) }]);
        story.simulator.revokeToken(story.accountToken);
        await story.simulator.playScene(story.accountId, { scene: "leave" });
        await eventually(t.signal, async () => {
          const shown = await story.client.device(deviceId);
          assert.equal(shown.attributes.get("d.structures[1].a.away")?.value, "away");
          assert.equal(shown.presenceInfo, "1");
        });
      },
    );

    statements.it("changes nothing when the ecosystem refuses the token or can't be reached", async (t) => {
      const story = await world(t, { database });
      const refused = await story.client.federate("POST", "c.wrong");
      assert.deepEqual([refused.status, refused.body.errorCode], [422, 121]);
      const unknown = await story.client.federate("POST", story.accountToken, "hive");
      assert.deepEqual([unknown.status, unknown.body.errorCode], [400, 120]);
      await story.simulator.stop();
      const unreachable = await story.client.federate("POST", story.accountToken);
      assert.deepEqual([unreachable.status, unreachable.body.errorCode], [503, 122]);
      const list = await story.client.call("getDeviceList", { secToken: story.client.secToken });
      assert.deepEqual(list.getDeviceListResponse?.devList, undefined);
    });

    statements.it(
      "needs a new token when its own is revoked, shows as absent, and is live again after a PUT",
      async (t) => {
        const story = await world(t, { database });
        const deviceId = await story.link();
        await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "1"));
        story.simulator.revokeToken(story.accountToken);
        await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "0"));
        await story.restart();
        assert.equal((await story.client.device(deviceId)).presenceInfo, "0");
        assert.equal((await story.client.federate("PUT", story.simulator.issueToken(story.accountId))).status, 200);
        await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "1"));
      },
    );

    statements.it("never reveals a token: not in its log, not in its store, not in an answer", async (t) => {
      const story = await world(t, { database });
      await story.link();
      await story.client.federate("POST", story.accountToken);
      await story.client.federate("PUT", `${story.accountToken}wrong`);
      const log = story.logged.join("");
      assert.ok(log.length > 0);
      for (const secret of [story.accountToken, story.client.secToken]) assert.ok(!log.includes(secret));
      const [link] = await story.service.parts.store.read((tx) => tx.links.ofUser(story.userId));
      assert.ok(link && !JSON.stringify(link).includes(story.accountToken));
    });
  });
}
