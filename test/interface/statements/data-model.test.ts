import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { DeviceId } from "../../../src/model/ids.ts";
import { type PublishedAttribute, publishedAttributes } from "../../samples/published-attributes.ts";
import { clientOfUser, type ShownAttribute, type V3Client } from "../../stories/v3-client.ts";
import { eventually } from "../../stories/world.ts";
import { addUser, type House, houseOfFile, tenant } from "./house.ts";

// biome-ignore lint/suspicious/noExplicitAny: the document is the ecosystem's
type Document = any;

/** Ada's account fills the whole model. */
const house = houseOfFile(
  {
    structures: [
      { name: "Town house", thermostats: 20, alarms: 18 },
      { name: "Summer house", thermostats: 20, alarms: 18 },
    ],
  },
  prepare,
);
let account: DeviceId;
let attributes: Readonly<Record<string, ShownAttribute>>;

/** Another user's account with one structure, one thermostat and one alarm, whose stream is live. */
const small = { user: undefined as unknown as V3Client, accountId: "", deviceId: 0 as DeviceId };

async function prepare(prepared: House): Promise<void> {
  const { link, user } = prepared;
  account = await link();
  attributes = await user.attributes(account);
  small.accountId = await linkAs("bob", [{ name: "Flat", thermostats: 1, alarms: 1 }], (deviceId, client) => {
    small.deviceId = deviceId;
    small.user = client;
  });
}

/** Links an account of these structures for a new user. */
async function linkAs(
  name: string,
  structures: readonly object[],
  linked: (deviceId: DeviceId, user: V3Client) => void,
): Promise<string> {
  const { simulator, service } = house();
  const who = { name, password: "another word" };
  const { accountId, token } = simulator.addAccount({ seed: 2, structures } as never);
  const { body } = await (await addUser(house(), who)).federate("POST", token);
  linked(Number(body.DeviceId) as DeviceId, await clientOfUser(() => service, tenant, who));
  return accountId;
}

/** Changes the small account in the ecosystem, and waits until an attribute shows it. */
async function mirrored(t: TestContext, name: string, value: string, change: (document: Document) => void) {
  const { simulator } = house();
  const document = structuredClone(simulator.document(small.accountId)) as Document;
  change(document);
  simulator.replaceDocument(small.accountId, document);
  await eventually(t.signal, async () => {
    assert.equal((await small.user.attributes(small.deviceId))[name]?.value, value);
  });
}

const firstOf = (group: object): Document => Object.values(group)[0];
const structureOf = ({ structures }: Document) => firstOf(structures);
const alarmOf = ({ devices }: Document) => firstOf(devices.smoke_co_alarms);

const put = (values: object) => {
  const init = { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(values) };
  return house().user.call(`/devices/${account}`, init);
};

/** The rows of the interface's tables, by names with X and Y in place of the indexes. */
const rows = Map.groupBy(publishedAttributes(), ({ name }) =>
  name.replace(/structures\[\d+\]/, "structures[X]").replace(/(thermostats|smokeCoAlarms)\[\d+\]/, "$1[Y]"),
);

/** True if a value is one of those that the row allows. */
function isAllowed({ type, values }: PublishedAttribute, value: unknown): boolean {
  if (type === "boolean string") return value === "true" || value === "false";
  if (type === "integer") {
    const [lowest = 0, highest = 0] = values.split(/ or |-/).map(Number);
    return Number.isInteger(value) && Number(value) >= lowest && Number(value) <= highest;
  }
  if (type === "date-time string") return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(String(value));
  return typeof value === "string" && (values === "any string" || values.split(", ").includes(value));
}

describe("the attributes of a linked account", () => {
  for (const [row, published] of rows) {
    const { type, values, isWritable } = published[0]!;
    if (isWritable) continue;
    it(`2.7: ${row} is a ${type} (${values}) that clients can't write`, async () => {
      for (const attribute of published) {
        const value = attributes[attribute.name]?.value;
        assert.ok(isAllowed(attribute, value), `${attribute.name} is ${value}`);
      }
      const { status, body } = await put({ [published[0]!.name]: "true" });
      assert.deepEqual([status, body.error], [403, "read_only_attribute"]);
    });
  }

  it("2.7: only fan_timer_active.requestWrite of a thermostat can be written", async () => {
    const writable = publishedAttributes().filter(({ isWritable }) => isWritable);
    assert.equal(writable.length, 40);
    assert.ok(writable.every(({ name }) => name.endsWith(".fan_timer_active.requestWrite")));
    assert.equal((await put({ [writable[0]!.name]: null })).status, 200);
  });

  it("2.7, 8: are 519 (about 400 in the interface): 2 structures, 40 thermostats, 36 alarms", async () => {
    const names = publishedAttributes().map(({ name }) => name);
    assert.equal(names.length, 519);
    const query = new URLSearchParams(names.map((name) => ["attribute", name]));
    const { body } = await house().user.call(`/devices/${account}?${query}`);
    assert.deepEqual(Object.keys(body.attributes).sort(), names.toSorted());
    const ids = Object.keys(attributes).filter((name) => name.endsWith(".device_id"));
    const count = (kind: string) => ids.filter((name) => name.includes(kind)).length;
    assert.deepEqual([count("thermostats"), count("smokeCoAlarms")], [40, 36]);
  });

  it("2.7: of unused structures and devices are blank", async () => {
    const { user, deviceId } = small;
    const shown = await user.attributes(deviceId);
    assert.ok("d.structures[1].d.thermostats[1].name" in shown);
    const unused = Object.keys(shown).filter((name) => /structures\[2\]|\[(?!1\])\d+\]/.test(name));
    assert.deepEqual(unused, []);
  });

  it("2.7: carry booleans as the strings true and false", () => {
    for (const { name, type } of publishedAttributes()) {
      if (type === "boolean string") assert.match(JSON.stringify(attributes[name]?.value), /^"(true|false)"$/, name);
    }
  });

  it("2.7: have the spelling of the interface's examples; the other published spellings are understood (amended)", async () => {
    const { user } = house();
    const examples = [
      "d.structures[1].d.thermostats[2].has_fan",
      "d.structures[1].d.smokeCoAlarms[1].co_alarm_state",
      "o.structures[1].totals.smokeCOAlarms",
    ];
    for (const name of examples) assert.ok(name in attributes, name);
    const others = [
      "d.structures[1].d.thermostat[2].has_fan",
      "d.structures[1].d.smokeCOAlarms[1].co_alarm_state",
      "o.structures[1].totals.smokeCoAlarms",
    ];
    for (const [i, name] of others.entries()) {
      assert.equal((await user.attributes(account, { attribute: name }))[name]?.value, attributes[examples[i]!]!.value);
    }
  });

  it("2.7, 8: have indexes from 1 to 2 for structures, 20 for thermostats and 18 for alarms, and no others", async () => {
    for (const name of [
      "d.structures[0].a.away",
      "d.structures[3].a.away",
      "d.structures[1].d.thermostats[0].name",
      "d.structures[1].d.thermostats[21].name",
      "d.structures[1].d.smokeCoAlarms[0].name",
      "d.structures[1].d.smokeCoAlarms[19].name",
    ]) {
      const { status, body } = await house().user.call(
        `/devices/${account}?${new URLSearchParams({ attribute: name })}`,
      );
      assert.deepEqual([status, body.error], [404, "unknown_attribute"], name);
    }
  });
});

describe("the mirror", () => {
  for (const [field, states, owner] of [
    ["a.away", ["away", "auto-away", "home"], structureOf],
    ["d.smokeCoAlarms[1].co_alarm_state", ["warning", "emergency", "ok"], alarmOf],
    ["d.smokeCoAlarms[1].smoke_alarm_state", ["warning", "emergency", "ok"], alarmOf],
    ["d.smokeCoAlarms[1].ui_color_state", ["gray", "yellow", "red", "green"], alarmOf],
  ] as const) {
    it(`3, 6: shows each state of ${field} that the ecosystem sets: ${states.join(", ")}`, async (t) => {
      const member = field.split(".").at(-1)!;
      for (const state of states) {
        await mirrored(t, `d.structures[1].${field}`, state, (document) => {
          owner(document)[member] = state;
        });
      }
    });
  }

  it("3: shows a state of `away` that it does not know as unknown", async (t) => {
    await mirrored(t, "d.structures[1].a.away", "unknown", (document) => {
      structureOf(document).away = "holiday";
    });
    await mirrored(t, "d.structures[1].a.away", "home", (document) => {
      structureOf(document).away = "home";
    });
  });

  for (const [kind, member, summary] of [
    ["warning", "smoke_alarm_state", "smoke"],
    ["warning", "co_alarm_state", "CO"],
    ["emergency", "smoke_alarm_state", "smoke"],
    ["emergency", "co_alarm_state", "CO"],
  ] as const) {
    const [group, other] = kind === "warning" ? ["warnings", "emergencies"] : ["emergencies", "warnings"];
    it(`2.7: sums up a ${kind} of one alarm in ${group}.${summary} and ${group}.all of its structure`, async (t) => {
      const name = `o.structures[1].${group}.${summary}`;
      await mirrored(t, name, "true", (document) => {
        alarmOf(document)[member] = kind;
      });
      const shown = await small.user.attributes(small.deviceId);
      const trueNames = Object.keys(shown).filter(
        (one) => /^o\..*(warn|emerg)/.test(one) && shown[one]!.value === "true",
      );
      assert.deepEqual(trueNames.sort(), [`o.structures[1].${group}.all`, name].sort());
      assert.equal(shown[`o.structures[1].${other}.all`]!.value, "false");
      await mirrored(t, name, "false", (document) => {
        alarmOf(document)[member] = "ok";
      });
    });
  }

  it("1, 6: gives the attributes of one change the same, later time, and touches no others", async (t) => {
    const before = await small.user.attributes(small.deviceId);
    await mirrored(t, "d.structures[1].a.name", "Loft", (document) => {
      structureOf(document).name = "Loft";
    });
    const after = await small.user.attributes(small.deviceId);
    const changed = Object.keys(after).filter((name) => after[name]!.updateTime !== before[name]?.updateTime);
    assert.deepEqual(changed, ["d.structures[1].a.name"]);
    assert.ok(after[changed[0]!]!.updateTime > before[changed[0]!]!.updateTime);
  });

  it("1, 8: takes two structures, 20 thermostats and 18 alarms of a larger account, and disturbs nothing else", async () => {
    let shown: Readonly<Record<string, ShownAttribute>> = {};
    const structures = [{ thermostats: 21, alarms: 19 }, {}, {}];
    let read = async () => ({}) as typeof shown;
    await linkAs("carol", structures, (deviceId, user) => {
      read = () => user.attributes(deviceId);
    });
    shown = await read();
    assert.equal(shown["o.totalStructures"]!.value, 2);
    const totals = [1, 2].map((x) => [
      shown[`o.structures[${x}].totals.thermostats`]!.value,
      shown[`o.structures[${x}].totals.smokeCOAlarms`]!.value,
    ]);
    assert.ok(totals.some(([thermostats, alarms]) => thermostats === 20 && alarms === 18));
    const known = new Set(publishedAttributes().map(({ name }) => name));
    assert.deepEqual(
      Object.keys(shown).filter((name) => !known.has(name)),
      [],
    );
  });
});
