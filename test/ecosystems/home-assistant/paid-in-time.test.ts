import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EntityStates } from "../../../src/ecosystems/home-assistant/entity-states.ts";
import type { IngestStream } from "../../../src/ecosystems/kit/ingest-turns.ts";
import type { Home } from "../../../src/home/home.ts";
import { limits } from "../../../src/model/limits.ts";
import { finished } from "../immediate-turns.ts";
import { type Listening, listen } from "../listening.ts";
import { AnsweringInstance } from "./answering-instance.ts";

const lightCount = 100;
const lights = Array.from({ length: lightCount }, (_, n) => `light.l${n}`);
const alarms = ["binary_sensor.smoke", "binary_sensor.attic"];
const smokeAttributes = { device_class: "smoke" };
const allStates = {
  ...Object.fromEntries(
    lights.map((id) => [id, { s: "on", a: { brightness: 1, supported_color_modes: ["brightness"] } }]),
  ),
  ...Object.fromEntries(alarms.map((id) => [id, { s: "off", a: smokeAttributes }])),
};
const results = {
  call_service: { context: { id: "call" } },
  "config/entity_registry/list": [],
  get_states: [
    ...lights.map((id) => ({ entity_id: id, attributes: {} })),
    ...alarms.map((id) => ({ entity_id: id, attributes: smokeAttributes })),
  ],
};

/** Gives each stream turns of some pieces, when the test says so. */
class CountedTurns {
  readonly #streams = new Set<IngestStream>();
  /** Pieces in a turn. */
  pieces = Number.POSITIVE_INFINITY;
  /** CPU time that each turn seems to take. */
  turnMs = 0;

  take(stream: IngestStream): void {
    this.#streams.add(stream);
    if (this.pieces === Number.POSITIVE_INFINITY) this.run();
  }

  forget(stream: IngestStream): void {
    this.#streams.delete(stream);
  }

  /** Resolves when a message that was read elsewhere may have been applied. */
  async isIdle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  get isWaiting(): boolean {
    return this.#streams.size > 0;
  }

  run(): void {
    for (const stream of [...this.#streams]) {
      let hasMore = true;
      for (let i = 0; i < this.pieces && hasMore; i++) hasMore = stream.step();
      stream.endTurn();
      const mayGoOn = stream.spent(this.turnMs);
      if (!hasMore || !mayGoOn) this.#streams.delete(stream);
    }
  }
}

describe("the events of a large home", () => {
  it("are applied in turns, and the home is reported once in each", async () => {
    const { instance, turns, stream } = await followed();
    turns.pieces = 50;
    instance.send(lights.map((id, n) => changed(instance, { [id]: { "+": { a: { brightness: n + 100 } } } })));
    let turnCount = 0;
    for (; turns.isWaiting; turnCount++) turns.run();
    await instance.runtime.advance(100);
    assert.ok(turnCount >= 4, `${turnCount} turns`);
    assert.ok(homesIn(stream).length - 1 <= turnCount, `${homesIn(stream).length} homes in ${turnCount} turns`);
    assert.equal(stateOf(stream, "light.l99").brightness?.state.percent, Math.round((199 / 255) * 100));
  });

  it("are applied piece by piece also when one event changes all entities", async () => {
    const { instance, turns } = await followed();
    turns.pieces = 20;
    const all = lights.map((id) => [id, { "+": { a: { brightness: 200 } } }]);
    instance.send(changed(instance, Object.fromEntries(all)));
    let turnCount = 0;
    for (; turns.isWaiting; turnCount++) turns.run();
    assert.ok(turnCount >= 5, `${turnCount} turns`);
  });

  it("are reported ten times a second at most when only levels change, and at once when a light goes off", async () => {
    const { instance, stream } = await followed();
    const change = (state: object) => instance.send(changed(instance, { "light.l1": { "+": state } }));
    const reportsBefore = homesIn(stream).length;
    for (let n = 1; n <= 100; n++) {
      change({ a: { brightness: n } });
      await instance.runtime.advance(10);
    }
    const reports = homesIn(stream).length - reportsBefore;
    assert.ok(reports >= 9 && reports <= 11, `${reports} reports in a second`);
    await instance.runtime.advance(100);
    assert.equal(
      stateOf(stream, "light.l1").brightness?.state.percent,
      Math.round((100 / 255) * 100),
      "the last level",
    );
    change({ a: { brightness: 200 } });
    change({ a: { brightness: 250 } });
    change({ s: "off" });
    assert.equal(stateOf(stream, "light.l1").onOff?.state.on, false, "within the same pause");
  });

  it("are reported completely when an alarm in the middle of one was reported at once", async () => {
    const { instance, stream } = await followed();
    const event = { "binary_sensor.smoke": { "+": { s: "on" } }, "light.l1": { "+": { s: "off" } } };
    instance.send(changed(instance, event));
    assert.equal(stateOf(stream, "light.l1").onOff?.state.on, false, "without a further event");
  });

  it("are reported completely when one takes several turns", async () => {
    const { instance, turns, stream } = await followed();
    turns.pieces = 1;
    instance.send(changed(instance, Object.fromEntries(lights.slice(0, 3).map((id) => [id, { "+": { s: "off" } }]))));
    while (turns.isWaiting) turns.run();
    assert.equal(stateOf(stream, "light.l2").onOff?.state.on, false, "without a further event");
  });

  it("settle a command when one takes several turns", async () => {
    const { instance, turns } = await followed();
    const event = changed(instance, { "light.l1": { "+": { s: "off", c: "call" } } });
    const action = { key: "other/light.l1", step: { trait: "onOff", set: { on: false } } } as const;
    const outcome = await instance.connector.act(instance.access, action, new AbortController().signal);
    assert.ok(outcome.state === "accepted");
    turns.pieces = 1;
    instance.send(event);
    while (turns.isWaiting) turns.run();
    await instance.runtime.advance(100);
    const late = new Promise((resolve) => setImmediate(resolve, "late"));
    assert.equal(await Promise.race([outcome.caused, late]), undefined, "without a further event");
  });

  it("gather before they are read when there are many", async () => {
    const { instance, stream } = await followed();
    let pauses = 0;
    for (let n = 0; n < 400; n++) {
      const wasPaused = instance.isPaused;
      instance.send(changed(instance, { [lights[n % lightCount]!]: { "+": { a: { brightness: (n % 250) + 1 } } } }));
      if (!wasPaused && instance.isPaused) pauses += 1;
      await instance.runtime.advance(2.5);
    }
    assert.ok(pauses >= 25 && pauses <= 50, `${pauses} pauses in a second`);
    await instance.runtime.advance(200);
    assert.equal(instance.isPaused, false);
    assert.equal(stateOf(stream, "light.l99").brightness?.state.percent, Math.round((150 / 255) * 100));
    const before = pauses;
    for (let n = 0; n < 40; n++) {
      instance.send(changed(instance, { "light.l1": { "+": { s: n % 2 ? "on" : "off" } } }));
      if (instance.isPaused) pauses += 1;
      await instance.runtime.advance(25);
    }
    assert.equal(pauses, before, "forty changes a second are read one by one");
  });

  it("lose no transition: ten pulses of smoke and of a light in one frame are twenty changes of each", async () => {
    const { instance, stream } = await followed();
    const pulse = (state: string, n: number) => [
      changed(instance, { "binary_sensor.smoke": { "+": { s: state } } }),
      changed(instance, { "light.l1": { "+": { s: state } } }),
      changed(instance, { "light.l2": { "+": { a: { brightness: n } } } }),
    ];
    instance.send(Array.from({ length: 10 }, (_, n) => [...pulse("on", n), ...pulse("off", n)]).flat());
    const smoke = transitions(stream, (home) => home.alarms.byId.get("binary_sensor.smoke"));
    const light = transitions(stream, (home) => home.others!.byId.get("light.l1"));
    assert.deepEqual([smoke.length, light.length], [21, 20], "the first state included; the light was on");
  });

  it("are reported whole, also when an alarm in the middle of an event is reported before the rest", async () => {
    const { instance, stream } = await followed();
    const change = { "+": { s: "off" } };
    instance.send(
      changed(instance, { "light.l1": change, "binary_sensor.smoke": { "+": { s: "on" } }, "light.l2": change }),
    );
    await instance.runtime.advance(100);
    const shown = ["light.l1", "light.l2"].map((id) => stateOf(stream, id).onOff?.state.on);
    assert.deepEqual(shown, [false, false]);
  });

  it("leave what has not changed as it is: the same objects are in the next home", async () => {
    const { instance, stream } = await followed();
    instance.send(changed(instance, { "light.l5": { "+": { a: { brightness: 77 } } } }));
    const [before, after] = homesIn(stream).slice(-2) as [Home, Home];
    assert.notEqual(before, after);
    assert.equal(before.alarms, after.alarms);
    assert.equal(before.structures, after.structures);
    const changedIds = lights.filter((id) => before.others!.byId.get(id) !== after.others!.byId.get(id));
    assert.deepEqual(changedIds, ["light.l5"]);
  });
});

describe("a home that takes more than its share of CPU", () => {
  it("is paused, says so, and goes on where it was", async () => {
    const slowed: boolean[] = [];
    const { instance, turns, stream } = await followed((isSlowed) => slowed.push(isSlowed));
    turns.pieces = 1;
    turns.turnMs = limits.linkCpuMsAtOnce + 1;
    const events = [1, 2].map((n) => changed(instance, { "light.l1": { "+": { a: { brightness: n * 100 } } } }));
    instance.send(events);
    turns.run();
    assert.deepEqual([instance.isPaused, slowed, instance.reached], [true, [true], ["linkCpuMsPerSecond"]]);
    instance.send(changed(instance, { "binary_sensor.smoke": { "+": { s: "on" } } }));
    assert.equal(turns.isWaiting, false, "what arrives meanwhile waits, too");
    turns.turnMs = 0;
    turns.pieces = Number.POSITIVE_INFINITY;
    await instance.runtime.advance(1_000);
    assert.equal(instance.isPaused, false);
    assert.equal(stateOf(stream, "light.l1").brightness?.state.percent, Math.round((200 / 255) * 100));
    const smoke = homesIn(stream).at(-1)!.alarms.byId.get("binary_sensor.smoke");
    assert.ok(smoke?.isRead && smoke.object.traits.smoke?.state.state === "alarm", "its own alarm comes through");
    await instance.runtime.advance(30_000);
    assert.deepEqual(slowed, [true, false]);
  });
});

describe("the thread that reads large messages", () => {
  it("is paid for by the home that sends them", async () => {
    const slowed: boolean[] = [];
    const { instance, turns } = await followed((isSlowed) => slowed.push(isSlowed));
    const event = changed(instance, { "light.l1": { "+": { a: { brightness: 7, effect: "x".repeat(1_900_000) } } } });
    for (let n = 0; n < 20 && slowed.length === 0; n++) {
      instance.send(event);
      await turns.isIdle();
    }
    assert.deepEqual(slowed, [true]);
  });
});

describe("the states in memory", () => {
  it("are those of subscribed entities, and of attributes that are read", () => {
    const states = new EntityStates();
    states.begin(new Map([["light.a", { id: "a" }]]));
    const attributes = { brightness: 5, effect_list: ["x"], friendly_name: "n".repeat(10_000) };
    const { changed, ignoredCount } = finished(
      states.apply({ a: { "light.a": { s: "on", a: attributes }, "light.b": { s: "on", a: attributes } } }),
    );
    assert.deepEqual([changed, ignoredCount], [["light.a"], 1]);
    const view = states.view("light.a");
    assert.deepEqual(Object.keys(view.attributes).toSorted(), ["brightness", "friendly_name"]);
    assert.equal(String(view.attributes.friendly_name).length, 255);
    assert.equal(states.view("light.b").lastState, undefined);
  });

  it("are bounded in bytes: an entity beyond the bound is unknown, and there is room again when another is gone", () => {
    const states = new EntityStates(700);
    const ids = ["light.a", "light.b", "light.c"];
    states.begin(new Map(ids.map((id) => [id, { id }])));
    const name = "n".repeat(200);
    const add = (...which: readonly string[]) =>
      finished(
        states.apply({ a: Object.fromEntries(which.map((id) => [id, { s: "on", a: { friendly_name: name } }])) }),
      );
    assert.deepEqual([add(...ids).ignoredCount, states.view("light.c").isFresh], [1, false]);
    finished(states.apply({ r: ["light.a"] }));
    assert.deepEqual([add("light.c").ignoredCount, states.view("light.c").isFresh], [0, true]);
  });

  it("count the last values of an entity while it is unavailable", () => {
    const states = new EntityStates(1_000);
    const ids = ["light.a", "light.b", "light.c", "light.d"];
    states.begin(new Map(ids.map((id) => [id, { id: `registered ${id}` }])));
    const name = "n".repeat(200);
    const add = (id: string, s: string, friendly_name = name) =>
      finished(states.apply({ a: { [id]: { s, a: { friendly_name } } } })).ignoredCount;
    for (const id of ["light.a", "light.b"]) assert.deepEqual([add(id, "on"), add(id, "unavailable", "")], [0, 0]);
    assert.equal(states.view("light.a").lastState?.state, "on");
    assert.equal(add("light.c", "on"), 1);
    // Bytes are counted once when the entity is back, and again when only its last values are left.
    assert.deepEqual([add("light.a", "off"), add("light.a", "on"), add("light.d", "unavailable", "")], [0, 0, 0]);
    states.begin(new Map([["light.b", { id: "registered light.b" }]]));
    assert.equal(states.view("light.b").lastState?.state, "on");
    assert.deepEqual([add("light.b", "on", "n".repeat(500)), states.view("light.b").isFresh], [0, true]);
  });
});

async function followed(slowed: (isSlowed: boolean) => void = () => undefined) {
  const turns = new CountedTurns();
  const instance: AnsweringInstance = new AnsweringInstance(
    ({ id, type }) => (type === "subscribe_entities" ? [{ id, type: "event", event: { a: allStates } }] : []),
    { results, turns },
  );
  const stream = listen(instance.connector, instance.access, undefined, { slowed });
  await stream.until(1);
  return { instance, turns, stream };
}

function changed(instance: AnsweringInstance, changes: Readonly<Record<string, object>>): object {
  return { id: instance.idOf("subscribe_entities"), type: "event", event: { c: changes } };
}

function homesIn({ heard }: Listening): readonly Home[] {
  return heard.filter((one) => typeof one === "object");
}

function stateOf(stream: Listening, id: string) {
  const reading = homesIn(stream).at(-1)!.others!.byId.get(id);
  assert.ok(reading?.isRead);
  return reading.object.traits;
}

/** The different objects, in order. */
function transitions(stream: Listening, find: (home: Home) => unknown): readonly unknown[] {
  return homesIn(stream)
    .map(find)
    .filter((reading, i, all) => reading !== all[i - 1]);
}
