import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { PlatformClient } from "./platform-client.ts";
import { deployments, eventually, longSuiteOn, person, world } from "./world.ts";

for (const database of longSuiteOn("three nodes", deployments)) {
  describe(`unlinking on ${database}`, () => {
    it("leaves no row, no stream and no token, and lists what it removed", async (t) => {
      const story = await world(t, { database, structures: [{ thermostats: 2, alarms: 1 }] });
      const deviceId = await story.link();
      await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "1"));
      await story.simulator.playScene(story.accountId, { scene: "leave" });
      await eventually(t.signal, async () => {
        const { attributes } = await story.client.device(deviceId);
        assert.equal(attributes.get("d.structures[1].a.away")?.value, "away");
      });
      const [link] = await story.service.parts.store.read((tx) => tx.links.ofUser(story.userId));

      const { status, body } = await story.client.unlink();
      assert.equal(status, 200);
      assert.equal(body.DeviceId, String(deviceId));
      assert.equal(body.tokenRevoked, true);
      const removed = body.removed as Record<string, number>;
      assert.ok(removed.attributes! > 20 && removed.history! >= 2, JSON.stringify(removed));

      const isReleased = async () => {
        for (const { service } of story.nodes) assert.equal(service.parts.federation.keeper.followed, 0);
      };
      // With several nodes another node may own the link; it learns of the removal a moment later.
      await (database === "three nodes" ? eventually(t.signal, isReleased) : isReleased());
      assert.equal(story.simulator.log().filter(({ kind }) => kind === "stream-closed").length > 0, true);
      assert.equal((await fetch(story.simulator.url, bearer(story.accountToken))).status, 401);
      const list = await story.client.call("getDeviceList", { secToken: story.client.secToken });
      assert.equal(list.getDeviceListResponse.devList, undefined);
      const gone = await story.client.call("getDeviceAttributesWithValues", {
        secToken: story.client.secToken,
        devId: String(deviceId),
      });
      assert.equal(gone.requestFault.errorCode, "109");
      await story.service.parts.store.read(async (tx) => {
        assert.deepEqual(await tx.links.ofUser(story.userId), []);
        assert.deepEqual(await tx.attributes.all(story.userId, deviceId), []);
        assert.deepEqual(await tx.blindIntervals.ofDevice(story.userId, deviceId), []);
        assert.deepEqual(await tx.things.marks(story.userId, deviceId), []);
        // Readers of the log learn that the things and their device are gone, and nothing else.
        const [things, device, ...more] = await tx.log.ofDevice(story.userId, deviceId);
        const gone = JSON.parse(things!.body).things as readonly object[];
        assert.deepEqual(
          [things!.kind, gone.length, device!.kind, device!.body, more.length],
          ["thing", 4, "device", '{"what":"removed"}', 0],
        );
        for (const one of gone) assert.deepEqual({ ...one, thingId: "" }, { thingId: "", what: "gone" });
      });
      await story.service.stop();
      if (database === "sqlite") {
        // No file of the store holds the token or its sealed form.
        for (const name of readdirSync(story.config.dataFolder)) {
          const bytes = readFileSync(join(story.config.dataFolder, name));
          for (const secret of [story.accountToken, link!.sealedToken]) assert.ok(!bytes.includes(secret), name);
        }
      }
    });

    it("before linking is 119, and linking again afterwards makes a new device", async (t) => {
      const story = await world(t, { database });
      const before = await story.client.unlink();
      assert.deepEqual([before.status, before.body.errorCode], [404, 119]);
      const unknown = await story.client.unlink("hive");
      assert.deepEqual([unknown.status, unknown.body.errorCode], [400, 120]);
      const first = await story.link();
      assert.equal((await story.client.unlink()).status, 200);
      assert.equal((await story.client.unlink()).body.errorCode, 119);
      const token = story.simulator.issueToken(story.accountId);
      const { body } = await story.client.federate("POST", token);
      assert.ok(Number(body.DeviceId) > first, "an id was issued twice");
    });

    it("of one user leaves another's link to the same account alone", async (t) => {
      const story = await world(t, { database });
      await story.link();
      const { identity } = story.service.parts;
      await identity.addUser({ tenant: "Story", name: "grace", password: person.password, isAdmin: false });
      const [tenant] = await identity.listTenants();
      const grace = new PlatformClient(() => story.service.baseUrl);
      await grace.login("grace", person.password, tenant!.tenantId);
      const hers = await grace.federate("POST", story.simulator.issueToken(story.accountId));
      assert.equal(hers.status, 200);
      assert.equal((await story.client.unlink()).status, 200);
      await story.simulator.playScene(story.accountId, { scene: "leave" });
      await eventually(t.signal, async () => {
        const shown = await grace.device(Number(hers.body.DeviceId));
        assert.equal(shown.attributes.get("d.structures[1].a.away")?.value, "away");
        assert.equal(shown.presenceInfo, "1");
      });
    });
  });
}

function bearer(token: string): RequestInit {
  return { headers: { authorization: `Bearer ${token}` } };
}
