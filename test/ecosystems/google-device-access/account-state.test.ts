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

  it("ignores the modes that Google sends by mistake, and asks for a list", () => {
    const state = listed({ ThermostatMode: { mode: "HEAT", availableModes: ["HEAT", "OFF"] } });
    const needed = state.apply(event(9_000, { ThermostatMode: { mode: "OFF", availableModes: ["OFF"] } }));
    assert.equal(needed, "devices");
    assert.equal(thermostatOf(state.home()).traits.thermostat!.state.mode, "heat");
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
    assert.deepEqual([tell(2_000, 21), celsiusOf(state.home())], ["devices", 20]);
    assert.deepEqual([tell(3_500, 22), celsiusOf(state.home())], ["none", 22]);
    assert.deepEqual([tell(3_400, 21), celsiusOf(state.home())], ["none", 22]);
    // A list that is older than the last event does not undo it.
    assert.equal(state.list({ ...listOf(temperature(21), 2_500), toMs: 3_200 }), false);
    assert.equal(celsiusOf(state.home()), 22);
  });

  it("never shows an older value, however events are shuffled, repeated, delayed, merged or lost", () => {
    for (let seed = 1; seed <= rounds({ all: 5_000, few: 400 }); seed++) assertNeverBack(seed);
  });
});

/**
 * A temperature that only rises, so that a value that goes back in time is a value that falls. Every change becomes an
 * event, with faults on its way. Lists are made at random times, and whenever the state calls for one.
 */
function assertNeverBack(seed: number): void {
  const random = dice(seed);
  const isLossy = random() < 0.3;
  const changes = Array.from({ length: 30 }, (_, i) => ({ timeMs: 1_000 + i * 400 + random() * 300, celsius: i + 1 }));
  const truthAt = (timeMs: number) => changes.findLast((change) => change.timeMs <= timeMs)?.celsius ?? 0;
  type Step = { readonly atMs: number; readonly act: () => void };
  const steps: Step[] = [];
  const state = new AccountState(range);
  let shown = 0;
  let lists = 0;
  const look = () => {
    const celsius = celsiusOf(state.home()) ?? 0;
    assert.ok(celsius >= shown, `seed ${seed}: ${celsius} after ${shown}`);
    shown = celsius;
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
        const isInDoubt = state.list({ ...listOf(temperature(truthAt(takenMs)), takenMs), ...window }, mark);
        look();
        if (isInDoubt) requestList(atMs + holdMs + answerMs + 100);
      },
    });
  };
  state.list(listOf(temperature(0), 500));
  for (const { timeMs, celsius } of changes) {
    if (isLossy && random() < 0.3) continue;
    const copies = random() < 0.3 ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const atMs = timeMs + random() ** 3 * 6_000;
      steps.push({
        atMs,
        act: () => {
          if (state.apply(event(timeMs, temperature(celsius))) !== "none") requestList(atMs + 100);
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
  requestList(60_000);
  run();
  assert.equal(celsiusOf(state.home()), truthAt(60_000), `seed ${seed}`);
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
