import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { addDevice, removeDevice } from "../../src/provisioning/operator-devices.ts";
import { startService } from "../../src/service/service.ts";
import { silent } from "../contracts/store/home.ts";
import { rounds } from "../set-up/extent.ts";
import { assertMirrors } from "./expected-attributes.ts";
import { asPlatformDevice, clientOfTenant, clientOfUser, type V3Client } from "./v3-client.ts";
import { deployments, eventually, longSuiteOn, person, type World, world } from "./world.ts";

const tenant = "Story";
const owner = (story: World) => clientOfUser(() => story.service, tenant, person);
const enterprise = (story: World) => clientOfTenant(() => story.service, tenant);

for (const database of longSuiteOn("sqlite", deployments)) {
  describe(`users and devices on ${database}`, () => {
    it("are read and written by an authorised client, also after a restart, and by no other", async (t) => {
      const story = await world(t, { database });
      const { identity, store } = story.service.parts;
      const bobId = await identity.addUser({ tenant, name: "bob", password: "another word", isAdmin: false });
      const [ada, bob] = [
        await owner(story),
        await clientOfUser(() => story.service, tenant, { name: "bob", password: "another word" }),
      ];
      const acme = await enterprise(story);
      const lamp = await addDevice(store, { userId: story.userId, name: "Hall", typeName: "Lamp" });

      await ada.write(lamp, { power: true, level: 7, colour: "red" });
      await acme.write(lamp, { colour: null, mood: "calm" });
      const before = await ada.device(lamp);
      const values = Object.entries<{ value: unknown }>(before.attributes).map(([name, { value }]) => [name, value]);
      assert.deepEqual(values.sort(), [
        ["level", "7"],
        ["mood", "calm"],
        ["power", "true"],
      ]);
      assert.deepEqual((await bob.call(`/devices/${lamp}`)).body.error, "unknown_device");
      assert.deepEqual((await ada.call("/users")).body, [story.userId]);
      assert.deepEqual((await acme.call("/users")).body, [story.userId, bobId]);
      const { createdTime, ...record } = (await acme.call(`/users/${bobId}`)).body;
      assert.deepEqual(record, { userId: bobId, userName: "bob", tenant });
      assert.ok(createdTime > 1_700_000_000_000);

      await story.restart();
      assert.deepEqual(await ada.device(lamp), before);
      assert.deepEqual((await acme.page({ deviceTypeName: "Lamp" })).ids, [lamp]);
      assert.deepEqual((await bob.page({})).ids, []);
    });

    it("show a linked account exactly as its ecosystem does, and its later changes", async (t) => {
      const story = await world(t, {
        database,
        structures: [
          { name: "Town house", thermostats: 3, alarms: 2 },
          { name: "Summer house", alarms: 1 },
        ],
      });
      const deviceId = await story.link();
      const ada = await owner(story);
      await eventually(t.signal, async () => assert.equal((await ada.device(deviceId)).presenceInfo, 1));
      const shown = await ada.device(deviceId);
      const { body: map } = await story.client.largeStrings(deviceId);
      assertMirrors(asPlatformDevice(shown), story.simulator.document(story.accountId), map);
      assert.deepEqual(asPlatformDevice(shown).attributes, (await story.client.device(deviceId)).attributes);
      assert.deepEqual(
        [shown.deviceName, shown.deviceTypeName, shown.stale],
        ["Nest account", "EcosystemAccount", false],
      );
      assert.ok(shown.confirmedTime > 1_700_000_000_000);
      assert.equal(shown.attributes["o.totalStructures"].value, 2);
      const { devices } = (await (await enterprise(story)).call("/devices?deviceTypeName=EcosystemAccount")).body;
      const { userId } = story;
      const entry = {
        deviceId,
        userId,
        deviceName: "Nest account",
        deviceTypeName: "EcosystemAccount",
        presenceInfo: 1,
      };
      assert.deepEqual(devices, [entry]);

      // A client that polls only for changes ends up with the whole state, and with no value of a removed alarm.
      const known = new Map(Object.entries<{ value: unknown; updateTime: number }>(shown.attributes));
      const poll = async () => {
        const since = Math.max(...[...known.values()].map(({ updateTime }) => updateTime));
        const news = Object.entries(await ada.attributes(deviceId, { since: String(since) }));
        for (const [name, attribute] of news) known.set(name, attribute);
      };
      await story.simulator.playScene(story.accountId, { scene: "smoke" });
      await story.simulator.playScene(story.accountId, { scene: "remove-alarm", structure: 1 });
      await story.simulator.playScene(story.accountId, { scene: "leave" });
      await eventually(t.signal, async () => {
        await poll();
        const present = Object.fromEntries([...known].filter(([, { value }]) => value !== null));
        const { body } = await story.client.largeStrings(deviceId);
        assertMirrors(asPlatformDevice({ attributes: present }), story.simulator.document(story.accountId), body);
      });
      const blank = [...known].filter(([name, { value }]) => name.includes(".smokeCoAlarms[") && value === null);
      assert.equal(blank.length, 6, "all attributes of the removed alarm are null");
    });

    it("list thousands in pages, without gaps or duplicates, while devices are added and removed", async (t) => {
      const story = await world(t, { database });
      const count = rounds({ all: database === "sqlite" ? 9_900 : 2_000, few: 2_000 });
      const { store } = story.service.parts;
      const states = { forget() {} };
      const first = await addMany(story, count);
      const [ada, acme] = [await owner(story), await enterprise(story)];

      for (const [client, query] of [
        [ada, {}],
        [acme, { deviceTypeName: "Lamp" }],
      ] as const) {
        const before = new Set(await idsOf(story));
        const removed = new Set<DeviceId>();
        let dice = 7;
        const random = (below: number) => {
          dice = (dice * 48_271) % 2_147_483_647;
          return dice % below;
        };
        const seen = await everyPage(client, query, async (page) => {
          await addDevice(store, { userId: story.userId, name: "late", typeName: "Lamp" });
          // Remove a device that was listed already, the last one of the page (the cursor's position), and one still to come.
          const victims = [page[random(page.length)]!, page.at(-1)!, first[random(first.length)]!];
          for (const id of victims) {
            if (removed.has(id) || !before.has(id)) continue;
            await removeDevice(store, states, story.userId, id);
            removed.add(id);
          }
        });
        assert.equal(new Set(seen).size, seen.length, "a device was listed twice");
        assert.deepEqual(
          seen,
          [...seen].sort((a, b) => a - b),
        );
        const listed = new Set(seen);
        const skipped = [...before].filter((id) => !removed.has(id) && !listed.has(id));
        assert.deepEqual(skipped, []);
        assert.ok(removed.size > count / 100);
      }
    });

    it("continue with a cursor from another token, before a restart, or from another node", async (t) => {
      const story = await world(t, { database });
      const added = await addMany(story, 150);
      const { cursor } = await (await owner(story)).page({});
      assert.ok(cursor);
      await story.restart();
      const ada = await owner(story);
      const expected = { ids: added.slice(100), cursor: undefined };
      assert.deepEqual(await ada.page({ cursor }), expected);
      if (database === "sqlite") return;
      const second = await startService(story.config, silent);
      try {
        assert.deepEqual(await ada.at(second.baseUrl).page({ cursor }), expected);
      } finally {
        await second.stop();
      }
    });
  });
}

/** Follows the cursors to the end, calls back after each page, and returns every listed id. */
async function everyPage(
  client: V3Client,
  query: Readonly<Record<string, string>>,
  afterPage: (ids: readonly DeviceId[]) => Promise<void>,
): Promise<DeviceId[]> {
  const seen: DeviceId[] = [];
  for (let next = query; ; ) {
    const { ids, cursor } = await client.page(next);
    seen.push(...ids);
    if (cursor === undefined) return seen;
    assert.equal(ids.length, 100);
    await afterPage(ids);
    next = { cursor };
  }
}

function addMany(story: World, count: number): Promise<DeviceId[]> {
  const { userId } = story;
  return story.service.parts.store.transaction(async (tx) => {
    const ids: DeviceId[] = [];
    for (let i = 0; i < count; i++) {
      ids.push(await tx.devices.add({ userId, typeName: "Lamp", name: `lamp ${i}`, isVirtual: false }));
    }
    return ids;
  });
}

async function idsOf(story: World): Promise<DeviceId[]> {
  return (await story.service.parts.devices.list(story.userId)).map(({ id }) => id);
}
