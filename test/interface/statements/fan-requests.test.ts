import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeviceId } from "../../../src/model/ids.ts";
import { eventually } from "../../stories/world.ts";
import { type House, houseOfFile, untilLive } from "./house.ts";

/** A command too many in an hour is refused by the ecosystem. Each statement has a thermostat of its own. */
const house = houseOfFile({ structures: [{ name: "Home", thermostats: 9 }], ecosystem: { writesPerHour: 2 } }, prepare);
let account: DeviceId;

async function prepare(prepared: House): Promise<void> {
  account = await prepared.link();
  await untilLive(prepared);
}

const active = (y: number) => `d.structures[1].d.thermostats[${y}].fan_timer_active`;

async function read(y: number, member = "") {
  const name = `${active(y)}${member}`;
  return (await house().user.attributes(account, { attribute: name }))[name]!;
}

async function request(y: number, value: string | null): Promise<number> {
  const sentMs = house().nowMs();
  await house().user.write(account, { [`${active(y)}.requestWrite`]: value });
  return sentMs;
}

/** The error text of the last request, when there is one. */
async function errorOf(signal: AbortSignal, y: number): Promise<string> {
  return eventually(signal, async () => {
    const { value } = await read(y, ".requestWrite");
    assert.match(String(value), /^error: /);
    return String(value);
  });
}

async function isRunning(signal: AbortSignal, y: number, sentMs: number): Promise<void> {
  await eventually(signal, async () => {
    const { value, updateTime } = await read(y);
    assert.deepEqual([value, updateTime > sentMs], ["true", true]);
  });
}

function commands() {
  const { simulator } = house();
  return simulator.log().filter(({ kind }) => kind === "command");
}

/** Changes a thermostat or its structure in the ecosystem, and waits until the virtual device shows it. */
async function change(signal: AbortSignal, name: string, value: string, act: (document: never) => void) {
  const { simulator, accountId, user } = house();
  const document = structuredClone(simulator.document(accountId)) as never;
  act(document);
  simulator.replaceDocument(accountId, document);
  await eventually(signal, async () => assert.equal((await user.attributes(account))[name]?.value, value));
}

/** The thermostat with index `y` in the ecosystem's document. */
async function thermostat(y: number) {
  const { value } = (await house().user.attributes(account))[`d.structures[1].d.thermostats[${y}].device_id`]!;
  // biome-ignore lint/suspicious/noExplicitAny: the document is the ecosystem's
  return (document: any) => document.devices.thermostats[String(value)];
}

async function withFan(signal: AbortSignal, y: number, hasFan: boolean): Promise<void> {
  const find = await thermostat(y);
  const name = `d.structures[1].d.thermostats[${y}].has_fan`;
  await change(signal, name, String(hasFan), (document) => {
    find(document).has_fan = hasFan;
  });
}

describe("a fan request", () => {
  it("3: of a thermostat with a fan, online and at home, is forwarded to the ecosystem, without a duration", async (t) => {
    await withFan(t.signal, 1, true);
    const before = commands().length;
    await request(1, "true");
    await eventually(t.signal, () => assert.equal(commands().length, before + 1));
    assert.equal(commands().at(-1)!.body, '{"fan_timer_active":true}');
  });

  it("3: that the ecosystem accepts erases requestWrite, and fan_timer_active becomes true a little later", async (t) => {
    await withFan(t.signal, 2, true);
    const sentMs = await request(2, "true");
    await isRunning(t.signal, 2, sentMs);
    assert.equal((await read(2, ".requestWrite")).value, null);
  });

  it("7: is checked by the time of fan_timer_active, which is later than the command, for a running fan too (amended)", async (t) => {
    await withFan(t.signal, 3, true);
    await isRunning(t.signal, 3, await request(3, "true"));
    await isRunning(t.signal, 3, await request(3, "true"));
    assert.equal((await read(3, ".requestWrite")).value, null);
  });

  it("3, 7: that the ecosystem refuses leaves the text error: <errormsg>, <badvalue>, <timestamp>", async (t) => {
    await withFan(t.signal, 4, true);
    const { simulator } = house();
    simulator.addFault({ fault: "reject-fan", times: 1, message: "Not now, please" });
    await request(4, "true");
    const text = await errorOf(t.signal, 4);
    assert.match(text, /^error: Not now, please, true, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.notEqual((await read(4)).value, "true");
  });

  it("7: reads null when there is no error", async (t) => {
    await withFan(t.signal, 5, true);
    assert.equal((await read(5, ".requestWrite")).value, null);
    await request(5, "banana");
    await errorOf(t.signal, 5);
    await request(5, null);
    assert.equal((await read(5, ".requestWrite")).value, null);
  });

  it("3: can't give a duration: a value other than true or false is refused with its text", async () => {
    const before = commands().length;
    await request(6, "true, 30");
    assert.match(
      String((await read(6, ".requestWrite")).value),
      /^error: Invalid value for fan_timer_active, true, 30, /,
    );
    assert.equal(commands().length, before);
  });

  it("3: of a thermostat without a fan is refused", async (t) => {
    await withFan(t.signal, 7, false);
    await request(7, "true");
    assert.match(await errorOf(t.signal, 7), /^error: Thermostat does not have a fan, true, /);
    assert.notEqual((await read(7)).value, "true");
  });

  it("3: of a thermostat that is offline is refused", async (t) => {
    await withFan(t.signal, 8, true);
    const find = await thermostat(8);
    await change(t.signal, "d.structures[1].d.thermostats[8].is_online", "false", (document) => {
      find(document).is_online = false;
    });
    await request(8, "true");
    assert.match(await errorOf(t.signal, 8), /^error: Thermostat is not online, true, /);
    assert.notEqual((await read(8)).value, "true");
  });

  it("8: too many to one thermostat are refused by the ecosystem's rate limit", async (t) => {
    await withFan(t.signal, 9, true);
    for (const value of ["true", "false"]) {
      await request(9, value);
      await eventually(t.signal, async () => assert.equal((await read(9)).value, value));
    }
    await request(9, "true");
    assert.match(await errorOf(t.signal, 9), /^error: blocked, true, /);
    assert.equal((await read(9)).value, "false");
  });

  for (const state of ["away", "auto-away", "unknown"]) {
    it(`3: is refused while the structure is ${state}`, async (t) => {
      await withFan(t.signal, 1, true);
      await change(t.signal, "d.structures[1].a.away", state, ({ structures }) => {
        for (const structure of Object.values<{ away: string }>(structures)) structure.away = state;
      });
      await request(1, "true");
      assert.match(
        await errorOf(t.signal, 1),
        /^error: Cannot change fan_timer_active while structure is away, true, /,
      );
    });
  }
});
