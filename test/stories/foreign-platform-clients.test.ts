import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { XMLParser } from "fast-xml-parser";
import { addDevice } from "../../src/provisioning/operator-devices.ts";
import { runPython } from "./python.ts";
import { person, surfaceDeployments, world } from "./world.ts";

for (const database of surfaceDeployments) {
  describe(`a client in Python that knows only the description of the platform calls on ${database}`, () => {
    for (const method of ["GET", "POST"]) {
      it(`gets through a whole session with ${method}`, { timeout: 60_000 }, async (t) => {
        const story = await world(t, { database, structures: [{ thermostats: 1, alarms: 1 }] });
        const account = await story.link();
        const { store, identity } = story.service.parts;
        const lamp = await addDevice(store, { userId: story.userId, name: "<Lamp & co>", typeName: "Lamp" });
        const { tenantId } = await identity.findTenant("Story");
        const value = `<on> & "bright" – é🏠`;
        const work = { baseUrl: story.service.baseUrl, method, ...person, appId: tenantId, account, lamp, value };
        const result = await runPython(work);
        assert.equal(result.userId, story.userId);
        assert.deepEqual(
          result.devices.map(({ devId, devName, appID }: Record<string, string>) => [devId, devName, appID]),
          [
            [String(account), "Nest account", String(tenantId)],
            [String(lamp), "<Lamp & co>", String(tenantId)],
          ],
        );
        assert.equal(result.typeName, "EcosystemAccount");
        assert.deepEqual(
          new Map(Object.entries(result.attributes)),
          new Map([...(await story.client.device(account)).attributes].map(([name, one]) => [name, one.value])),
        );
        assert.deepEqual([result.set, result.got, result.time > 0], ["0", value, true]);
        assert.deepEqual([result.setThree, result.three, result.values], ["0", { level: "7", power: "dim" }, 0]);
        assert.deepEqual(result.empty, Array(5).fill([200, "getDeviceListResponse"]));
        assert.deepEqual(result.wrongMethod, Array(5).fill([405, "requestFault"]));
        const [status, { userId, securityToken }] = result.session;
        assert.deepEqual([status, userId], [200, story.userId]);
        assert.equal((await identity.authenticate(securityToken)).userId, story.userId);
        const errorMessage = "Invalid login name or password.";
        assert.deepEqual(result.noSession, [403, { errorCode: 101, errorMessage }]);
        const { triggerId, ...trigger } = result.trigger;
        assert.deepEqual(trigger, {
          devId: String(account),
          action: "attribute",
          attrName: "d.structures[1].a.away",
          operation: "regex",
          threshold: "",
          stringThreshold: "away|auto-away",
          address: "",
          msg: "",
          autoDisarm: "true",
          disarmed: "false",
          autoDelete: "false",
          autoDisable: "false",
          enable: "true",
        });
        assert.deepEqual(result.targets, [
          { deviceTriggerID: triggerId, deviceID: String(lamp), attributeName: "power", value: "off" },
        ]);
        assert.deepEqual([result.byDevice, result.disabled, result.byUser], [[triggerId], "false", ["true"]]);
        assert.deepEqual([result.removed, result.left], ["0", 0]);
        assert.deepEqual(result.faults, [113, 111, 110, 109, 102, 103]);
        assert.deepEqual([result.logout, result.after], ["0", 106]);
      });
    }
  });

  describe(`getDeviceList on ${database}`, () => {
    it("is parsed to the same list by two parsers, for 0, 1 and 500 devices with any names", {
      timeout: 60_000,
    }, async (t) => {
      const { client, service, userId } = await world(t, { database });
      const fetchList = async () => {
        const query = new URLSearchParams({ secToken: client.secToken });
        return (await fetch(`${service.baseUrl}/zdk/services/zamapi/getDeviceList?${query}`)).text();
      };
      const hostile = [
        "]]>",
        "<!--",
        "&amp;",
        "&#0;",
        "<![CDATA[x]]>",
        "\"'",
        "‮ردهة",
        "🏠",
        "\u2028",
        "a\u00a0b",
        "<?xml?>",
      ];
      const names: string[] = [];
      for (const count of [0, 1, 500]) {
        while (names.length < count) {
          const name = `${hostile[names.length % hostile.length]} ${names.length}`;
          // Not as a client adds it: earlier versions accepted more names.
          const device = { userId, name, typeName: "Lamp", isVirtual: false };
          await service.parts.store.transaction((tx) => tx.devices.add(device));
          names.push(name);
        }
        const xml = await fetchList();
        const parser = new XMLParser({
          parseTagValue: false,
          trimValues: false,
          isArray: (name) => name === "devList",
        });
        const { devList = [] } = parser.parse(xml)["ns1:getDeviceListResponse"] || {};
        assert.deepEqual(
          devList.map(({ devName }: { devName: string }) => devName),
          names,
        );
        assert.deepEqual(await runPython({ xml }), names);
      }
    });
  });
}
