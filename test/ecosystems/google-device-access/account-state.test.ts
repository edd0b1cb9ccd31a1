import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AccountState, type ListMark } from "../../../src/ecosystems/google-device-access/account-state.ts";
import { readEvent } from "../../../src/ecosystems/google-device-access/events.ts";
import type { AccountList } from "../../../src/ecosystems/google-device-access/lists.ts";
import type { Home } from "../../../src/home/home.ts";
import { rounds } from "../../set-up/extent.ts";

const range = { minCelsius: 9, maxCelsius: 32 };
const device = "enterprises/p1/devices/d1";
const room = "enterprises/p1/structures/s1/rooms/r1";
const prefix = "sdm.devices.traits.";

describe("the state of a Google account", () => {
  it("maps a thermostat as Google's first answer shows it", () => {
    const state = listed({
      Info: { customName: "" },
      Connectivity: { status: "ONLINE" },
      Settings: { temperatureScale: "FAHRENHEIT" },
      Humidity: { ambientHumidityPercent: 35 },
      Temperature: { ambientTemperatureCelsius: 21.4 },
      Fan: { timerMode: "ON", timerTimeout: "2026-01-01T00:15:00Z" },
      ThermostatMode: { mode: "HEATCOOL", availableModes: ["HEAT", "COOL", "HEATCOOL", "OFF"] },
      ThermostatEco: { mode: "OFF", availableModes: ["OFF", "MANUAL_ECO"], heatCelsius: 15.3, coolCelsius: 25 },
      ThermostatHvac: { status: "OFF" },
      ThermostatTemperatureSetpoint: { heatCelsius: 20.1, coolCelsius: 24 },
    });
    const thing = thermostatOf(state.home());
    assert.deepEqual([thing.name, thing.room, thing.isOnline], ["Hall", "Hall", true]);
    const { thermostat, fanTimer, temperature, humidity } = thing.traits;
    const { modes, unit } = thermostat!.capabilities;
    assert.deepEqual([modes, unit], [["heat", "cool", "heatCool", "off", "eco"], "F"]);
    const { mode, baseMode, heatCelsius, coolCelsius, targetCelsius, action } = thermostat!.state;
    assert.deepEqual([mode, baseMode, action], ["heatCool", null, "idle"]);
    assert.deepEqual([heatCelsius, coolCelsius, targetCelsius], [20.1, 24, null]);
    const untilMs = Date.UTC(2026, 0, 1, 0, 15);
    assert.deepEqual(fanTimer!.state, { active: true, untilMs, untilText: "2026-01-01T00:15:00Z" });
    assert.deepEqual([temperature!.state.celsius, humidity!.state.percent], [21.4, 35]);
    assert.equal(state.home().speaksOfAlarms, false);
    assert.equal(
      [...state.home().structures.byId.values()].every((one) => one.isRead && !one.object.presence),
      true,
    );
  });

  it("keeps the setpoints of a mode that is not in force, and those that are stored", () => {
    const setpoint = { ThermostatTemperatureSetpoint: {} };
    const state = new AccountState(range);
    const off = listOf({ ThermostatMode: { mode: "OFF" }, ...setpoint }, 1_000);
    const { thermostat } = thermostatOf(listed({ ThermostatMode: { mode: "HEAT" }, ...setpointOf(21) }).home()).traits;
    state.seed(new Map([[`thermostat/${device}`, { name: "Hall", traits: { thermostat: thermostat! } }]]), off);
    state.list(off);
    assert.equal(thermostatOf(state.home()).traits.thermostat!.state.heatCelsius, 21);
    state.apply(event(9_000, { ThermostatMode: { mode: "COOL" }, ThermostatTemperatureSetpoint: { coolCelsius: 25 } }));
    const { heatCelsius, coolCelsius, targetCelsius } = thermostatOf(state.home()).traits.thermostat!.state;
    assert.deepEqual([heatCelsius, coolCelsius, targetCelsius], [21, 25, 25]);
    state.apply(event(10_000, { ThermostatMode: { mode: "OFF" }, ...setpoint }));
    assert.equal(thermostatOf(state.home()).traits.thermostat!.state.heatCelsius, 21);
  });

  it("ends a fan timer whose old end the event leaves in place", () => {
    const state = listed({ Fan: { timerMode: "ON", timerTimeout: "2026-01-01T00:15:00Z" } });
    state.apply(event(9_000, { Fan: { timerMode: "OFF" } }));
    assert.deepEqual(thermostatOf(state.home()).traits.fanTimer!.state, {
      active: false,
      untilMs: null,
      untilText: null,
    });
    const fanless = thermostatOf(listed({ Fan: {} }).home()).traits.fanTimer!;
    assert.deepEqual([fanless.capabilities.supported, fanless.state.active], [false, null]);
  });

  it("ignores all of the update that Google sends by mistake, and asks for a list", () => {
    const state = listed({
      ThermostatMode: { mode: "HEAT", availableModes: ["HEAT", "OFF"] },
      ThermostatEco: { mode: "OFF", availableModes: ["OFF", "MANUAL_ECO"], heatCelsius: 15.5, coolCelsius: 25 },
    });
    const mistake = {
      ThermostatMode: { mode: "OFF", availableModes: ["OFF"] },
      ThermostatEco: { mode: "OFF", availableModes: ["OFF"], heatCelsius: 0, coolCelsius: 0 },
    };
    assert.equal(state.apply(event(9_000, mistake)), "devices");
    const { mode, ecoHeatCelsius, ecoCoolCelsius } = thermostatOf(state.home()).traits.thermostat!.state;
    assert.deepEqual([mode, ecoHeatCelsius, ecoCoolCelsius], ["heat", 15.5, 25]);
    const onlyOff = listed({ ThermostatMode: { mode: "OFF", availableModes: ["OFF"] } });
    assert.equal(onlyOff.apply(event(9_000, mistake)), "none", "the list shows no other mode either");
  });

  it("asks for a list after a relation event, and for an unknown device", () => {
    const state = listed({});
    assert.equal(state.apply({ kind: "relation", timeMs: 9_000 }), "all");
    assert.equal(state.apply({ ...event(9_000, {}), device: "enterprises/p1/devices/d2" } as never), "all");
  });

  it("drops an event that the list holds, applies a later one, and leaves one in between to another list", () => {
    const state = listed({ Temperature: { ambientTemperatureCelsius: 20 } }, { fromMs: 1_000, toMs: 3_000 });
    const tell = (timeMs: number, ambientTemperatureCelsius: number) =>
      state.apply(event(timeMs, { Temperature: { ambientTemperatureCelsius } }));
    assert.deepEqual([tell(900, 19), celsiusOf(state.home())], ["none", 20]);
    assert.deepEqual([tell(2_000, 21), celsiusOf(state.home())], ["doubts", 20]);
    assert.deepEqual([tell(3_500, 22), celsiusOf(state.home())], ["none", 22]);
    assert.deepEqual([tell(3_400, 21), celsiusOf(state.home())], ["none", 22]);
    // A list that is older than the last event does not undo it.
    assert.equal(state.list({ ...listOf(temperature(21), 2_500), toMs: 3_200 }), false);
    assert.equal(celsiusOf(state.home()), 22);
  });

  it("applies the newest event that is in doubt instead of another list, and none that a later event has settled", () => {
    const tell = (state: AccountState, timeMs: number, ambientTemperatureCelsius: number) =>
      state.apply(event(timeMs, { Temperature: { ambientTemperatureCelsius } }));
    const listedAt20 = () => listed({ Temperature: { ambientTemperatureCelsius: 20 } }, { fromMs: 1_000, toMs: 3_000 });
    const newest = listedAt20();
    assert.deepEqual([tell(newest, 2_500, 22), tell(newest, 2_000, 21)], ["doubts", "none"]);
    newest.settleDoubts();
    assert.equal(celsiusOf(newest.home()), 22);
    const settled = listedAt20();
    assert.deepEqual([tell(settled, 2_000, 21), tell(settled, 2_500, 20)], ["doubts", "none"]);
    settled.settleDoubts();
    assert.equal(celsiusOf(settled.home()), 20, "the list was newer than the first event");
    const later = listedAt20();
    tell(later, 2_000, 21);
    assert.equal(later.list({ ...listOf(temperature(19), 2_500), toMs: 3_200 }), false);
    later.settleDoubts();
    assert.equal(celsiusOf(later.home()), 19, "the event had arrived before the list was requested");
    const during = listedAt20();
    const { mark } = during;
    tell(during, 2_000, 21);
    assert.equal(during.list({ ...listOf(temperature(19), 1_500), toMs: 3_200 }, mark), true);
    assert.equal(celsiusOf(during.home()), 19);
    during.settleDoubts();
    assert.equal(celsiusOf(during.home()), 21);
  });

  it("keeps every field of partial events, although the later one arrives first", () => {
    const state = listed(heatCool({ heatCelsius: 18, coolCelsius: 24 }));
    const tell = (timeMs: number, fields: Targets) => state.apply(event(timeMs, targets(fields)));
    tell(12_000, { coolCelsius: 25 });
    assert.deepEqual([tell(10_000, { heatCelsius: 19 }), targetsOf(state.home())], ["none", [19, 25]]);
    tell(9_000, { heatCelsius: 18.5, coolCelsius: 23 });
    tell(10_000, { heatCelsius: 19 });
    assert.deepEqual(targetsOf(state.home()), [19, 25]);
  });

  it("takes the fields of a list that no later event has told", () => {
    const state = listed(heatCool({ heatCelsius: 18, coolCelsius: 24 }));
    const { mark } = state;
    state.apply(event(12_000, targets({ coolCelsius: 25 })));
    const older = listOf(heatCool({ heatCelsius: 19, coolCelsius: 24 }), 11_000);
    assert.equal(state.list(older, mark), false);
    state.apply(event(10_000, targets({ heatCelsius: 19 })));
    assert.deepEqual(targetsOf(state.home()), [19, 25]);
  });

  it("never shows an older value, however events are shuffled, repeated, delayed, merged or lost", () => {
    for (let seed = 1; seed <= rounds({ all: 5_000, few: 400 }); seed++) assertNeverBack(seed);
  });
});

/**
 * Two targets that only rise, so that a value that goes back in time is a value that falls. Every change becomes an
 * event with the changed fields, with faults on its way. Lists are made at random times, and whenever the state calls
 * for one.
 */
function assertNeverBack(seed: number): void {
  const random = dice(seed);
  const isLossy = random() < 0.3;
  const changes = Array.from({ length: 30 }, (_, i) => {
    const target = 10 + i / 10;
    const which = random();
    const fields = { ...(which < 0.6 && { heatCelsius: target }), ...(which > 0.4 && { coolCelsius: target + 10 }) };
    return { timeMs: 1_000 + i * 400 + random() * 300, fields };
  });
  const truthAt = (timeMs: number): Required<Targets> =>
    Object.assign({ ...first }, ...changes.filter((change) => change.timeMs <= timeMs).map(({ fields }) => fields));
  const isTrue = () => assert.deepEqual(targetsOf(state.home()), Object.values(truthAt(60_000)), `seed ${seed}`);
  type Step = { readonly atMs: number; readonly act: () => void };
  const steps: Step[] = [];
  const state = new AccountState(range);
  let shown = Object.values(first);
  let lists = 0;
  const look = () => {
    const now = targetsOf(state.home()).map((celsius) => celsius ?? 0);
    assert.ok(
      now.every((celsius, i) => celsius >= shown[i]!),
      `seed ${seed}: ${now} after ${shown}`,
    );
    shown = now;
  };
  const requestList = (atMs: number) => {
    lists += 1;
    assert.ok(lists < 200, `seed ${seed}: lists do not settle it`);
    let mark: ListMark | undefined;
    const [holdMs, answerMs] = [random() * 500, random() * 500];
    const request = () => {
      mark = state.mark;
    };
    steps.push({ atMs, act: request });
    steps.push({
      atMs: atMs + holdMs + answerMs,
      act: () => {
        const takenMs = atMs + holdMs;
        const window = { fromMs: takenMs - random() * 900, toMs: takenMs + random() * 900 };
        const isInDoubt = state.list({ ...listOf(heatCool(truthAt(takenMs)), takenMs), ...window }, mark);
        look();
        if (isInDoubt) requestList(atMs + holdMs + answerMs + 100);
      },
    });
  };
  state.list(listOf(heatCool(first), 500));
  for (const { timeMs, fields } of changes) {
    if (isLossy && random() < 0.3) continue;
    const copies = random() < 0.3 ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const atMs = timeMs + random() ** 3 * 6_000;
      steps.push({
        atMs,
        act: () => {
          if (state.apply(event(timeMs, targets(fields))) !== "none") requestList(atMs + 100);
          look();
        },
      });
    }
  }
  for (let i = 0; i < 3; i++) requestList(random() * 15_000);
  const run = () => {
    while (steps.length > 0) {
      steps.sort((a, b) => a.atMs - b.atMs);
      steps.shift()!.act();
    }
  };
  run();
  // Without a loss the events tell all, and a last list is not needed.
  if (!isLossy) isTrue();
  requestList(60_000);
  run();
  isTrue();
}

interface Targets {
  readonly heatCelsius?: number;
  readonly coolCelsius?: number;
}

const first = { heatCelsius: 9, coolCelsius: 19 };

function targets(fields: Targets): NamedTraits {
  return { ThermostatTemperatureSetpoint: { ...fields } };
}

function heatCool(fields: Targets): NamedTraits {
  return { ThermostatMode: { mode: "HEATCOOL" }, ...targets(fields) };
}

function targetsOf(home: Home): readonly (number | null)[] {
  const { heatCelsius, coolCelsius } = thermostatOf(home).traits.thermostat!.state;
  return [heatCelsius, coolCelsius];
}

function temperature(ambientTemperatureCelsius: number) {
  return { Temperature: { ambientTemperatureCelsius } };
}

function setpointOf(heatCelsius: number) {
  return { ThermostatTemperatureSetpoint: { heatCelsius } };
}

type NamedTraits = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

function prefixed(traits: NamedTraits): NamedTraits {
  return Object.fromEntries(Object.entries(traits).map(([name, fields]) => [`${prefix}${name}`, fields]));
}

function listOf(traits: NamedTraits, timeMs: number): AccountList {
  const parentRelations = [{ parent: room, displayName: "Hall" }];
  const devices = [{ name: device, type: "sdm.devices.types.THERMOSTAT", traits: prefixed(traits), parentRelations }];
  return { account: "x", devices, structures: [], fromMs: timeMs, toMs: timeMs };
}

function listed(traits: NamedTraits, window = { fromMs: 1_000, toMs: 3_000 }): AccountState {
  const state = new AccountState(range);
  state.list({ ...listOf(traits, 0), ...window });
  return state;
}

function event(timeMs: number, traits: NamedTraits) {
  const timestamp = new Date(timeMs).toISOString();
  const resourceUpdate = { name: device, traits: prefixed(traits) };
  return readEvent(JSON.stringify({ eventId: "e", timestamp, userId: "x", resourceUpdate }))!;
}

function thermostatOf(home: Home) {
  const sighting = home.thermostats.byId.get(device);
  assert.ok(sighting?.isRead);
  return sighting.object;
}

function celsiusOf(home: Home): number | null | undefined {
  return thermostatOf(home).traits.temperature?.state.celsius;
}

function dice(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
