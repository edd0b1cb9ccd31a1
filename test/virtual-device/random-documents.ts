import { numbersFrom } from "../set-up/seeded-random.ts";

type Random = () => number;

/**
 * Account documents of the Nest protocol, the same for the same seed. Ids come from few names, so that consecutive
 * documents share objects. Any part may be missing or malformed, as in documents that an ecosystem should not send.
 */
export function randomDocument(random: Random): unknown {
  if (random() < 0.02) return pick(random, [null, [], "text", 7]);
  const structures = someOf(random, structureIds, 0.7).map((id): [string, unknown] => [id, structureDocument(random)]);
  const devices = {
    ...maybe(random, 0.93, "thermostats", () => entries(random, thermostatIds, 0.5, thermostatDocument)),
    ...maybe(random, 0.93, "smoke_co_alarms", () => entries(random, alarmIds, 0.5, alarmDocument)),
  };
  return {
    ...maybe(random, 0.97, "structures", () => (random() < 0.03 ? "no object" : Object.fromEntries(structures))),
    ...maybe(random, 0.95, "devices", () => (random() < 0.03 ? 5 : devices)),
  };
}

/** A history of documents: most steps change a few objects of the document before, some replace it. */
export function* randomHistory(seed: number, length: number): Iterable<unknown> {
  const random = numbersFrom(seed);
  let document = randomDocument(random);
  for (let step = 0; step < length; step++) {
    document = random() < 0.15 ? randomDocument(random) : changed(random, document);
    yield document;
  }
}

const structureIds = ["s1", "s2", "s3", "s\u0000"];
const thermostatIds = Array.from({ length: 26 }, (_, index) => `t${index + 1}`);
const alarmIds = [...Array.from({ length: 24 }, (_, index) => `p${index + 1}`), "t1", "\ud800"];
const homes = ["s1", "s1", "s1", "s2", "s2", "s3", "unheard-of"];
const texts = ["Hall", "Küche", "", "A name with a zero \u0000 in it", "\udc00 half", "x".repeat(9_000)];

function structureDocument(random: Random): unknown {
  if (random() < 0.05) return pick(random, [null, "s1", {}, { name: "Only a name" }]);
  return {
    ...maybe(random, 0.9, "name", () => text(random)),
    ...maybe(random, 0.85, "away", () => pick(random, ["home", "away", "auto-away", "on holiday", "", 1, null])),
    ...maybe(random, 0.8, "thermostats", () => idList(random, thermostatIds)),
    ...maybe(random, 0.8, "smoke_co_alarms", () => idList(random, alarmIds)),
    ...maybe(random, 0.5, "time_zone", () => "Europe/Berlin"),
  };
}

function thermostatDocument(random: Random): unknown {
  if (random() < 0.05) return pick(random, [null, 3, {}, { name: "Only a name", structure_id: "s1" }]);
  return {
    ...maybe(random, 0.9, "structure_id", () => pick(random, homes)),
    ...maybe(random, 0.9, "name", () => text(random)),
    ...maybe(random, 0.9, "is_online", () => claim(random)),
    ...maybe(random, 0.9, "has_fan", () => claim(random)),
    ...maybe(random, 0.9, "fan_timer_active", () => claim(random)),
    ...maybe(random, 0.9, "fan_timer_timeout", () =>
      pick(random, ["1970-01-01T00:00:00.000Z", "2026-01-02T03:04:05.006Z", "soon", 12]),
    ),
    ...maybe(random, 0.7, "hvac_mode", () => pick(random, ["heat", "cool", "heat-cool", "eco", "off", "dry", 1])),
    ...maybe(random, 0.7, "target_temperature_c", () => pick(random, [20, 21.5, "21", null])),
    ...maybe(random, 0.7, "ambient_temperature_c", () => pick(random, [19.5, 20, Number.MAX_VALUE])),
    ...maybe(random, 0.5, "humidity", () => pick(random, [40, 45, "wet"])),
  };
}

function alarmDocument(random: Random): unknown {
  if (random() < 0.05) return pick(random, [null, [], {}, { structure_id: "s2" }]);
  return {
    ...maybe(random, 0.9, "structure_id", () => pick(random, homes)),
    ...maybe(random, 0.9, "name", () => text(random)),
    ...maybe(random, 0.9, "is_online", () => claim(random)),
    ...maybe(random, 0.9, "co_alarm_state", () => alarmWord(random)),
    ...maybe(random, 0.9, "smoke_alarm_state", () => alarmWord(random)),
    ...maybe(random, 0.8, "ui_color_state", () => pick(random, ["gray", "green", "yellow", "red", "violet", 0])),
    ...maybe(random, 0.7, "battery_health", () => pick(random, ["ok", "replace", "empty", 1])),
    ...maybe(random, 0.5, "is_manual_test_active", () => claim(random)),
  };
}

/** Replaces, adds or removes some objects of a document. */
function changed(random: Random, document: unknown): unknown {
  if (!isObject(document)) return randomDocument(random);
  const devices = isObject(document.devices) ? { ...document.devices } : {};
  const structures = isObject(document.structures) ? { ...document.structures } : {};
  const changes = 1 + Math.floor(random() * 3);
  for (let change = 0; change < changes; change++) {
    const kind = random();
    if (kind < 0.15) changeOne(random, structures, structureIds, structureDocument);
    else if (kind < 0.55)
      devices.thermostats = changedGroup(random, devices.thermostats, thermostatIds, thermostatDocument);
    else devices.smoke_co_alarms = changedGroup(random, devices.smoke_co_alarms, alarmIds, alarmDocument);
  }
  return { ...document, structures, devices };
}

function changedGroup(random: Random, group: unknown, ids: readonly string[], make: (random: Random) => unknown) {
  const objects = isObject(group) ? { ...group } : {};
  changeOne(random, objects, ids, make);
  return objects;
}

function changeOne(
  random: Random,
  objects: Record<string, unknown>,
  ids: readonly string[],
  make: (random: Random) => unknown,
): void {
  const id = pick(random, ids);
  if (random() < 0.25) delete objects[id];
  else objects[id] = make(random);
}

function entries(random: Random, ids: readonly string[], share: number, make: (random: Random) => unknown): unknown {
  if (random() < 0.03) return pick(random, ["no object", null, 9]);
  const fullness = random() < 0.1 ? 1 : share * random() * 2;
  return Object.fromEntries(someOf(random, ids, fullness).map((id) => [id, make(random)]));
}

function idList(random: Random, ids: readonly string[]): unknown {
  return random() < 0.05 ? pick(random, ["t1", [1, 2], null]) : someOf(random, ids, random());
}

function alarmWord(random: Random): unknown {
  return pick(random, ["ok", "ok", "ok", "ok", "warning", "emergency", "testing", "", 1]);
}

function claim(random: Random): unknown {
  return pick(random, [true, true, false, false, "true", null]);
}

function text(random: Random): unknown {
  return random() < 0.05 ? 4 : pick(random, texts);
}

function maybe(random: Random, share: number, key: string, make: () => unknown): Record<string, unknown> {
  return random() < share ? { [key]: make() } : {};
}

function someOf<One>(random: Random, all: readonly One[], share: number): One[] {
  return all.filter(() => random() < share);
}

function pick<One>(random: Random, all: readonly One[]): One {
  return all[Math.floor(random() * all.length)]!;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
