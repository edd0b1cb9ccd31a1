import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertMirrors } from "./expected-attributes.ts";
import { type Deployment, eventually, surfaceDeployments, type World, world } from "./world.ts";

// biome-ignore lint/suspicious/noExplicitAny: documents that no home would send have no type
type Document = any;

const structures = [{ name: "Home", thermostats: 2, alarms: 2 }];

async function linked(t: Parameters<typeof world>[0], database: Deployment) {
  const story = await world(t, { database, structures });
  const deviceId = await story.link();
  await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "1"));
  const document: Document = structuredClone(story.simulator.document(story.accountId));
  return { story, deviceId, document, before: (await story.client.device(deviceId)).attributes };
}

function send(story: World, document: Document): void {
  story.simulator.replaceDocument(story.accountId, document);
}

/** Payloads after which every other value must stay, and whose change of an alarm must be mirrored. */
const keepsAll: readonly (readonly [string, (document: Document) => void])[] = [
  ["thermostats that are only an id", (d) => everyOf(d.devices.thermostats, (t) => ({ device_id: t.device_id }))],
  ["thermostats that are no objects", (d) => everyOf(d.devices.thermostats, () => "gone fishing")],
  ["thermostats that are null", (d) => everyOf(d.devices.thermostats, () => null)],
  ["no thermostats where structures list them", (d) => void delete d.devices.thermostats],
  ["thermostats in a list", ({ devices }) => Object.assign(devices, { thermostats: [1, 2] })],
  ["structures that are only an id", (d) => everyOf(d.structures, (s) => ({ structure_id: s.structure_id }))],
  ["no structures", (d) => void delete d.structures],
  ["structures that are a word", (d) => Object.assign(d, { structures: "none" })],
  ["unknown fields at every level", (d) => addEverywhere(d)],
];

for (const database of surfaceDeployments) {
  describe(`a payload that no home would send on ${database}`, () => {
    for (const [what, change] of keepsAll) {
      it(`with ${what} blanks nothing, and an alarm in it is still mirrored`, async (t) => {
        const { story, deviceId, document, before } = await linked(t, database);
        change(document);
        const alarm = Object.values<Document>(document.devices.smoke_co_alarms)[0];
        alarm.smoke_alarm_state = "emergency";
        send(story, document);
        const shown = await eventuallyEmergency(t.signal, story, deviceId);
        for (const [name, { value }] of before) {
          if (/smoke_alarm_state|emergencies/.test(name)) continue;
          assert.equal(shown.get(name)?.value, value, name);
        }
      });
    }

    it("that is empty, or no account at all, changes nothing and is counted", async (t) => {
      const { story, deviceId, before } = await linked(t, database);
      for (const document of [{}, { devices: {} }, { structures: null }, { hello: "world" }]) {
        send(story, document);
        await eventually(t.signal, async () => assert.ok((await story.client.linkStatus()).oddities.incomplete > 0));
        assert.deepEqual((await story.client.device(deviceId)).attributes, before);
      }
    });

    it("with a third structure shows the first two and reports one over the limit", async (t) => {
      const { story, deviceId, document } = await linked(t, database);
      const [structure] = Object.values<Document>(document.structures);
      for (const id of ["second", "third"]) {
        document.structures[id] = { ...structure, structure_id: id, name: id, thermostats: [], smoke_co_alarms: [] };
      }
      send(story, document);
      await eventually(t.signal, async () => {
        assert.equal((await story.client.linkStatus()).overLimit.structures, 1);
        const shown = (await story.client.device(deviceId)).attributes;
        assert.equal(shown.get("o.totalStructures")?.value, "2");
      });
    });

    it("with duplicate, empty, right-to-left, 10 KB and hostile names shows and lists them", async (t) => {
      const { story, deviceId, document } = await linked(t, database);
      const names = ["Same", "Same", "", "‮שלום <&]]>\"' 🚒", "x".repeat(10_240), "\u0000\ud800\u0001", "__proto__"];
      const things = [
        ...Object.values<Document>(document.devices.thermostats),
        ...Object.values<Document>(document.devices.smoke_co_alarms),
      ];
      for (let round = 0; round < names.length; round++) {
        things.forEach((thing, i) => {
          thing.name = names[(round + i) % names.length];
        });
        Object.values<Document>(document.structures)[0].name = names[round];
        send(story, document);
        const expected = clean(names[round]!);
        await eventually(t.signal, async () => {
          const shown = (await story.client.device(deviceId)).attributes;
          assert.equal(shown.get("d.structures[1].a.name")?.value ?? "", expected);
        });
        const { status, body } = await story.client.largeStrings(deviceId);
        assert.equal(status, 200);
        assert.equal(Object.keys(body.labels).length, 1);
        assert.equal(Object.keys(body.identifiers).length, 5);
      }
    });

    it("with alarms alone has no home and away, and still mirrors the alarms", async (t) => {
      const story = await world(t, { database, structures });
      const { clientId } = story.simulator.registerClient({ name: "Alarms", permissions: ["smoke-co-alarm:read"] });
      const token = story.simulator.issueToken(story.accountId, clientId);
      const { body } = await story.client.federate("POST", token);
      const deviceId = Number(body.DeviceId);
      await story.simulator.playScene(story.accountId, { scene: "smoke" });
      const shown = await eventuallyEmergency(t.signal, story, deviceId);
      assert.equal(shown.get("d.structures[1].a.away"), undefined);
      assert.equal(shown.get("o.structures[1].totals.thermostats")?.value, "0");
      assert.equal(shown.get("o.structures[1].totals.smokeCOAlarms")?.value, "2");
      assert.equal(shown.get("o.structures[1].warnings.all")?.value, "false");
    });

    it("with an unknown alarm state shows the word, never ok, and counts it", async (t) => {
      const { story, deviceId, document } = await linked(t, database);
      for (const alarm of Object.values<Document>(document.devices.smoke_co_alarms)) alarm.co_alarm_state = "singing";
      send(story, document);
      await eventually(t.signal, async () => {
        const shown = (await story.client.device(deviceId)).attributes;
        assert.equal(shown.get("d.structures[1].d.smokeCoAlarms[1].co_alarm_state")?.value, "singing");
        assert.equal((await story.client.linkStatus()).oddities.unknownAlarmStates, 2);
      });
    });

    it("leaves no trace after the next complete one", async (t) => {
      const { story, deviceId, document } = await linked(t, database);
      send(story, { devices: 5, structures: [] });
      await eventually(t.signal, async () => assert.ok((await story.client.linkStatus()).oddities.incomplete > 0));
      send(story, document);
      await eventually(t.signal, async () => {
        assert.equal((await story.client.linkStatus()).oddities.incomplete, 0);
        const { body: map } = await story.client.largeStrings(deviceId);
        assertMirrors(await story.client.device(deviceId), story.simulator.document(story.accountId), map);
      });
    });
  });
}

describe("an account whose stream deviates from the protocol", () => {
  it("shows the emergency of an alarm without a structure, in its only structure or in both of two", async (t) => {
    const { story, deviceId, document } = await linked(t, "sqlite");
    const [stray] = Object.values<Document>(document.devices.smoke_co_alarms);
    for (const structure of Object.values<Document>(document.structures)) {
      structure.smoke_co_alarms = structure.smoke_co_alarms.filter((id: string) => id !== stray.device_id);
    }
    delete stray.structure_id;
    stray.smoke_alarm_state = "emergency";
    send(story, document);
    const shown = await eventuallyEmergency(t.signal, story, deviceId);
    assert.equal(shown.get("o.structures[1].totals.smokeCOAlarms")?.value, "2");
    assert.equal((await story.client.linkStatus()).oddities.strayAlarms, 1);

    // The alarm keeps its index in the first structure, and counts in the second too.
    document.structures.second = { structure_id: "second", name: "Second", away: "home" };
    send(story, document);
    await eventually(t.signal, async () => {
      const { attributes } = await story.client.device(deviceId);
      assert.equal(attributes.get("o.structures[2].emergencies.smoke")?.value, "true");
      assert.equal(attributes.get("o.structures[1].totals.smokeCOAlarms")?.value, "2");
    });

    stray.structure_id = "nowhere";
    send(story, document);
    await eventually(t.signal, async () => {
      const { attributes } = await story.client.device(deviceId);
      assert.equal(attributes.get("o.structures[2].emergencies.smoke")?.value, "true");
      assert.equal(attributes.get("o.structures[1].emergencies.smoke")?.value, "true");
      assert.equal(attributes.get("o.structures[1].totals.smokeCOAlarms")?.value, "1");
    });
    assert.equal((await story.client.linkStatus()).oddities.strayAlarms, 1);
  });

  it("is read again when the stream sends a part of it, and the part is counted", async (t) => {
    const { story, deviceId } = await linked(t, "sqlite");
    story.simulator.addFault({ fault: "malformed", kind: "part", times: 1 });
    await story.simulator.playScene(story.accountId, { scene: "smoke" });
    await eventuallyEmergency(t.signal, story, deviceId);
    const status = await story.client.linkStatus();
    assert.equal(status.oddities.partialPuts, 1);
    assert.equal(status.state, "live");
    assert.deepEqual(status.drifts, 0);
  });
});

async function eventuallyEmergency(signal: AbortSignal, story: World, deviceId: number) {
  let shown = (await story.client.device(deviceId)).attributes;
  await eventually(signal, async () => {
    shown = (await story.client.device(deviceId)).attributes;
    assert.equal(shown.get("o.structures[1].emergencies.smoke")?.value, "true");
  });
  return shown;
}

function everyOf(things: Record<string, Document>, change: (thing: Document) => unknown): void {
  for (const [id, thing] of Object.entries(things)) things[id] = change(thing);
}

/** Adds an unknown field to the objects themselves; in the lists by id it would count as one more device. */
function addEverywhere(document: Document): void {
  const { devices, structures } = document;
  const things = [devices.thermostats, devices.smoke_co_alarms, structures].flatMap((byId) => Object.values(byId));
  for (const object of [document, devices, document.metadata, ...things]) {
    Object.assign(object, { unheard_of: { deep: [1, { deeper: null }] } });
  }
}

/** The expected name: cut at 8,192 characters, without characters that a database or XML cannot hold. */
function clean(name: string): string {
  return [...name.slice(0, 8_192)].map((sign) => (/[\p{Cc}\p{Cs}]/u.test(sign) ? "\ufffd" : sign)).join("");
}
