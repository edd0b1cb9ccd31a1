import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clientOfTenant, clientOfUser, type V3Client } from "./v3-client.ts";
import { deployments, eventually, longSuiteOn, person, type World, world } from "./world.ts";

interface ShownThing {
  readonly thingId: string;
  readonly kind: string;
  readonly name: string;
  readonly stale: boolean;
  readonly goneTime?: number;
  readonly traits: Readonly<
    Record<
      string,
      { readonly state: Readonly<Record<string, { readonly value: unknown; readonly updateTime: number }>> }
    >
  >;
}

const structures = [{ name: "Town house", thermostats: 2, alarms: 2 }];
const owner = (story: World) => clientOfUser(() => story.service, "Story", person);

async function listed(client: V3Client, query = ""): Promise<readonly ShownThing[]> {
  const { status, body } = await client.call(`/things${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.things;
}

async function read(client: V3Client, thingId: string, query = ""): Promise<ShownThing> {
  const { status, body } = await client.call(`/things/${thingId}${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

for (const database of longSuiteOn("sqlite", deployments)) {
  describe(`the things of a linked account on ${database}`, () => {
    it("exist once the account is linked, and show an alarm with the time of its attribute", async (t) => {
      const story = await world(t, { database, structures });
      const deviceId = await story.link();
      const ada = await owner(story);
      const kinds = (await listed(ada)).map(({ kind }) => kind).sort();
      assert.deepEqual(kinds, ["alarm", "alarm", "home", "thermostat", "thermostat"]);
      assert.deepEqual(
        (await listed(ada, "?kind=home")).map(({ name }) => name),
        ["Town house"],
      );
      assert.deepEqual(await listed(await clientOfTenant(() => story.service, "Story"), "?source=other"), []);

      const before = await listed(ada, "?kind=alarm");
      const lastTime = Math.max(...before.map((one) => one.traits.smoke!.state.state!.updateTime));
      await story.simulator.playScene(story.accountId, { scene: "smoke" });
      const burning = await eventually(t.signal, async () => {
        const alarming = (await listed(ada, "?kind=alarm")).find(
          (one) => one.traits.smoke!.state.state!.value === "alarm",
        );
        assert.ok(alarming);
        return alarming;
      });
      assert.equal(burning.traits.smoke!.state.word!.value, "emergency");
      const { value, timeMs } = await smokeAttribute(ada, deviceId);
      assert.deepEqual([value, timeMs], ["emergency", burning.traits.smoke!.state.state!.updateTime]);
      const since = await read(ada, burning.thingId, `?since=${lastTime}`);
      assert.deepEqual(Object.keys(since.traits.smoke!.state).sort(), ["state", "word"]);
      assert.equal(since.traits.carbonMonoxide, undefined);
    });

    it("keep their ids over unlinking, linking again and a restart", async (t) => {
      const story = await world(t, { database, structures });
      await story.link();
      const ada = await owner(story);
      const ids = async () => (await listed(ada)).map(({ thingId }) => thingId);
      const before = await ids();
      for (const id of before) assert.match(id, /^t_[A-Za-z0-9_-]{22}$/);
      await story.client.unlink();
      assert.deepEqual(await ids(), []);
      assert.equal((await ada.call(`/things/${before[0]}`)).body.error, "unknown_thing");
      await story.client.federate("POST", story.simulator.issueToken(story.accountId));
      assert.deepEqual(await ids(), before);
      await story.restart();
      assert.deepEqual(await ids(), before);
    });

    it("show when they are gone, and are stale while the ecosystem can't be reached", async (t) => {
      const story = await world(t, { database, structures, hasProxy: true });
      await story.link();
      const ada = await owner(story);
      await eventually(t.signal, async () => assert.ok((await listed(ada)).every(({ stale }) => !stale)));
      const before = (await listed(ada, "?kind=alarm")).map(({ thingId }) => thingId);
      await story.simulator.playScene(story.accountId, { scene: "remove-alarm" });
      const left = await eventually(t.signal, async () => {
        const present = (await listed(ada, "?kind=alarm")).map(({ thingId }) => thingId);
        assert.equal(present.length, 1);
        return present;
      });
      const gone = await read(ada, before.find((id) => !left.includes(id))!);
      assert.ok(gone.goneTime !== undefined && gone.stale);
      story.proxy.mood = "closed";
      story.proxy.drop();
      await eventually(t.signal, async () => assert.ok((await listed(ada)).every(({ stale }) => stale)));
    });
  });
}

/** The attribute of the first smoke alarm that reports an emergency. */
async function smokeAttribute(client: V3Client, deviceId: number) {
  const attributes = await client.attributes(deviceId as never);
  const [, shown] = Object.entries(attributes).find(
    ([name, { value }]) => name.endsWith("smoke_alarm_state") && value === "emergency",
  )!;
  return { value: shown.value, timeMs: shown.updateTime };
}
