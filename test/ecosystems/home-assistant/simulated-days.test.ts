import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { seededRandom } from "../../../simulator/home/random.ts";
import {
  compressedDifference,
  compressedState,
  plainState,
} from "../../../simulator/home-assistant/compressed-state.ts";
import { furnish } from "../../../simulator/home-assistant/house.ts";
import { describing, type EntityState, Instance } from "../../../simulator/home-assistant/instance.ts";
import { InstanceHome, readConfig } from "../../../src/ecosystems/home-assistant/instance-home.ts";
import { readRegistries } from "../../../src/ecosystems/home-assistant/registries.ts";
import type { Home } from "../../../src/home/home.ts";
import type { Thing } from "../../../src/home/thing.ts";
import { rounds } from "../../set-up/extent.ts";
import { finished } from "../immediate-turns.ts";

/** `SEEDS=2000` runs more. */
const seeds = Number(process.env.SEEDS ?? rounds({ all: 300, few: 12 }));
const steps = 60;

/**
 * Random days in a house, without sockets and time: a follower takes what an instance sends, event by event, and must
 * always know the same as somebody who reads the instance anew; and what an instance does not tell is kept.
 */
describe("a followed Home Assistant on random days", () => {
  it(`shows what a new read shows, loses no alarm, and removes nothing while the instance starts (${seeds} seeds)`, () => {
    for (let seed = 1; seed <= seeds; seed++) playDay(seed);
  });
});

function playDay(seed: number): void {
  const random = seededRandom(`day ${seed}`);
  const instance = new Instance("°C");
  furnish(instance);
  const follower = new Follower(instance);
  const trail: string[] = [];
  for (let step = 0; step < steps; step++) {
    const name = pickOf(random, [...events.keys()]);
    trail.push(name);
    const before = thingIds(follower.home);
    events.get(name)!(instance, random);
    follower.catchUp();
    const where = `seed ${seed}: ${trail.join(", ")}`;
    const fresh = readAnew(instance);
    for (const [key, thing] of thingsOf(fresh)) {
      const followed = thingsOf(follower.home).get(key);
      assert.ok(followed, `${where}: ${key} is missing`);
      assert.equal(followed.isOnline, thing.isOnline, `${where}: ${key}`);
      // What a new read can tell, the follower tells too; beyond that it knows last values, as not available.
      for (const [trait, told] of Object.entries(thing.traits)) {
        assert.deepEqual(followed.traits[trait as keyof Thing["traits"]], told, `${where}: ${trait} of ${key}`);
      }
      for (const [trait, told] of Object.entries(followed.traits)) {
        const isToldAnew = trait in thing.traits;
        assert.ok(isToldAnew || told.available === false, `${where}: ${trait} of ${key} looks fresh`);
      }
    }
    if (instance.runState === "STARTING") {
      for (const key of before) assert.ok(thingIds(follower.home).has(key), `${where}: ${key} is gone`);
    } else {
      assert.deepEqual([...thingIds(follower.home)].sort(), [...thingIds(fresh)].sort(), where);
    }
  }
  // Every alarm that sounded was seen, also when it ended in the same moment.
  assert.equal(follower.alarmsSeen, follower.alarmsSounded, `seed ${seed}: ${trail.join(", ")}`);
}

type Random = () => number;

const events: ReadonlyMap<string, (instance: Instance, random: Random) => void> = new Map([
  ["smoke", (instance) => sound(instance, "smoke")],
  ["co", (instance) => sound(instance, "carbon_monoxide")],
  ["change", (instance, random) => changeSomething(instance, random)],
  ["lose", (instance, random) => instance.lose(pickOf(random, [...instance.states.keys()]))],
  [
    "find",
    (instance) => {
      for (const entityId of [...instance.lost.keys()]) instance.find(entityId);
    },
  ],
  [
    "unknown",
    (instance, random) => {
      const entityId = pickOf(random, sensors(instance));
      if (isTold(instance, entityId)) instance.change(entityId, "unknown");
    },
  ],
  [
    "rename",
    (instance, random) => {
      const entityId = pickOf(random, registered(instance));
      if (instance.states.has(entityId)) instance.renameEntity(entityId, `${entityId}x`);
    },
  ],
  [
    "delete",
    (instance, random) => {
      const entityId = pickOf(random, registered(instance));
      if (random() < 0.2 && instance.runState === "RUNNING") instance.deleteEntity(entityId);
    },
  ],
  [
    "add",
    (instance, random) => {
      const name = `light.added_${Math.floor(random() * 1e6)}`;
      instance.addEntity(name, "on", { friendly_name: name, brightness: 100, supported_color_modes: ["brightness"] });
    },
  ],
  ["addLoose", (instance, random) => instance.set(`switch.loose_${Math.floor(random() * 5)}`, "on", {})],
  [
    "removeLoose",
    (instance) => {
      const loose = [...instance.states.keys()].find((entityId) => entityId.startsWith("switch.loose"));
      if (loose && instance.runState === "RUNNING") instance.removeState(loose);
    },
  ],
  [
    "restart",
    (instance) => {
      if (instance.runState === "STARTING") return;
      instance.runState = "STARTING";
      for (const [entityId, state] of [...instance.states]) {
        const before = instance.lost.get(entityId) ?? state;
        instance.removeState(entityId);
        instance.lost.set(entityId, before);
        if (!instance.entities.has(entityId)) continue;
        instance.set(entityId, "unavailable", { ...describing(before.attributes), restored: true });
      }
      instance.tellConfig();
    },
  ],
  [
    "started",
    (instance) => {
      if (instance.runState === "RUNNING") return;
      instance.runState = "RUNNING";
      for (const entityId of [...instance.lost.keys()]) instance.find(entityId);
      instance.tellConfig();
    },
  ],
]);

function sound(instance: Instance, deviceClass: string): void {
  const [sensor] = [...instance.states].find(([, { attributes }]) => attributes.device_class === deviceClass) ?? [];
  if (sensor === undefined || !isTold(instance, sensor)) return;
  instance.change(sensor, "on");
  instance.change(sensor, "off");
}

function changeSomething(instance: Instance, random: Random): void {
  const climate = [...instance.states.keys()].find((entityId) => entityId.startsWith("climate."));
  const target = Math.round(random() * 40) / 2 + 10;
  if (climate && isTold(instance, climate)) {
    instance.change(climate, pickOf(random, ["heat", "cool", "off"]), { temperature: target });
  }
  instance.change("person.ada", random() < 0.5 ? "home" : "not_home");
}

/** An integration writes whole states: a restored entity is not changed in parts. */
function isTold({ states }: Instance, entityId: string): boolean {
  const entity = states.get(entityId);
  return entity !== undefined && entity.state !== "unavailable" && entity.attributes.restored !== true;
}

const sensors = ({ states }: Instance) => [...states.keys()].filter((id) => /^(binary_)?sensor\./.test(id));
const registered = ({ entities }: Instance) => [...entities.keys()];

function pickOf<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)]!;
}

/** Follows an instance as the session does: registries and states, then events; registries again when they changed. */
class Follower {
  readonly #instance: Instance;
  readonly #home = new InstanceHome();
  #mirrored: ReadonlySet<string> = new Set();
  #events: object[] = [];
  #mustLoad = false;
  alarmsSounded = 0;
  alarmsSeen = 0;

  constructor(instance: Instance) {
    this.#instance = instance;
    this.#load();
    instance.listeners.add({
      stateChanged: (entityId, before, after) => this.#hear(entityId, before, after),
      registryUpdated: this.#outdate,
      configUpdated: this.#outdate,
    });
  }

  get home(): Home {
    return this.#home.home()!;
  }

  readonly #outdate = (): void => {
    this.#mustLoad = true;
  };

  catchUp(): void {
    for (const event of this.#events.splice(0)) {
      const before = dangersIn(this.home);
      if (finished(this.#home.change(event)).hasRemoved) this.#mustLoad = true;
      if (dangersIn(this.home) > before) this.alarmsSeen += 1;
    }
    if (this.#mustLoad) this.#load();
    this.#mustLoad = false;
  }

  #hear(entityId: string, before: EntityState | undefined, after: EntityState | undefined): void {
    if (!this.#mirrored.has(entityId)) {
      this.#outdate();
      return;
    }
    const isDanger = ["smoke", "carbon_monoxide"].includes(String(after?.attributes.device_class));
    if (isDanger && after?.state === "on" && before?.state !== "on") this.alarmsSounded += 1;
    if (!after) this.#events.push({ r: [entityId] });
    else if (!before) this.#events.push({ a: { [entityId]: compressedState(after) } });
    else this.#events.push({ c: { [entityId]: compressedDifference(before, after) } });
  }

  #load(): void {
    this.#mirrored = load(this.#home, this.#instance);
  }
}

function readAnew(instance: Instance): Home {
  const home = new InstanceHome();
  load(home, instance);
  return home.home()!;
}

/** What a session reads and subscribes to. Returns the mirrored entities. */
function load(home: InstanceHome, instance: Instance): ReadonlySet<string> {
  const { entities, devices, areas, states, runState, temperatureUnit, locationName } = instance;
  const registries = readRegistries([...entities.values()], [...devices.values()], [...areas.values()])!;
  const unit_system = { temperature: temperatureUnit };
  const config = readConfig({ unit_system, state: runState, location_name: locationName })!;
  const mirrored = new Set(
    home.load(
      registries,
      config,
      [...states].map(([id, state]) => plainState(id, state)),
    ),
  );
  const told = [...states].filter(([entityId]) => mirrored.has(entityId));
  finished(home.list({ a: Object.fromEntries(told.map(([entityId, state]) => [entityId, compressedState(state)])) }));
  return mirrored;
}

function thingsOf({ thermostats, alarms, others }: Home): ReadonlyMap<string, Thing> {
  const found = new Map<string, Thing>();
  for (const listing of [thermostats, alarms, others!]) {
    for (const [id, sighting] of listing.byId) if (sighting.isRead) found.set(id, sighting.object);
  }
  return found;
}

const thingIds = (home: Home) => new Set(thingsOf(home).keys());

function dangersIn(home: Home): number {
  return [...thingsOf(home).values()]
    .flatMap(({ traits: { smoke, carbonMonoxide } }) => [smoke, carbonMonoxide])
    .filter((trait) => trait?.state.state === "alarm").length;
}
