import type { AlarmTruth, HomeTruth, ThermostatTruth } from "../checks/history.ts";
import type { Dice } from "../dice.ts";

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };
type Structure = { name: string | null; away: string | null };
type Thermostat = Writable<ThermostatTruth>;
type Alarm = Writable<AlarmTruth>;

export interface HomeSize {
  readonly structures: number;
  readonly thermostats: number;
  readonly alarms: number;
  /** The number of different device ids in the life of a home. */
  readonly mostDevices: number;
}

const alarmStates = ["ok", "ok", "warning", "emergency", "emergency", "testing"];
const colors: Readonly<Record<string, string>> = { ok: "green", warning: "yellow", emergency: "red" };

/** A home and its changes: devices are added, renamed, moved, removed and brought back; alarms sound; people leave. */
export class Home {
  readonly structures = new Map<string, Structure>();
  readonly thermostats = new Map<string, Thermostat>();
  readonly alarms = new Map<string, Alarm>();
  hasAlarmPermission = true;
  readonly #dice: Dice;
  readonly #mostDevices: number;
  readonly #goneStructures = new Map<string, Structure>();
  readonly #goneThermostats = new Map<string, Thermostat>();
  readonly #goneAlarms = new Map<string, Alarm>();
  #changes = 0;
  /** Undoes the last flicker. */
  #undoFlicker: (() => void) | undefined;

  constructor(dice: Dice, size: HomeSize) {
    this.#dice = dice;
    this.#mostDevices = size.mostDevices;
    for (let i = 0; i < size.structures; i++) this.#addStructure();
    for (let i = 0; i < size.thermostats; i++) this.#addThermostat();
    for (let i = 0; i < size.alarms; i++) this.#addAlarm();
  }

  /** A copy of the current state of the home. */
  truth(): HomeTruth {
    return {
      structures: copied(this.structures),
      thermostats: copied(this.thermostats),
      alarms: this.hasAlarmPermission ? copied(this.alarms) : new Map(),
      speaksOfAlarms: this.hasAlarmPermission,
    };
  }

  get isOverLimit(): boolean {
    const crowd = (devices: Iterable<{ structureId: string | null }>, limit: number) => {
      const counts = new Map<string | null, number>();
      for (const { structureId } of devices) counts.set(structureId, (counts.get(structureId) ?? 0) + 1);
      return [...counts.values()].some((count) => count > limit);
    };
    return this.structures.size > 2 || crowd(this.thermostats.values(), 20) || crowd(this.alarms.values(), 18);
  }

  /** A device just flickered and will be restored in a moment. */
  get isFlickering(): boolean {
    return this.#undoFlicker !== undefined;
  }

  /** Makes a random change and returns its description. */
  change(): string {
    this.#changes += 1;
    const dice = this.#dice;
    if (this.#undoFlicker && dice.chance(0.8)) return this.#endFlicker();
    const what = dice.weighted({
      alarm: 40,
      away: 8,
      fan: 10,
      rename: 8,
      flicker: 25,
      addDevice: 8,
      removeDevice: 8,
      move: 4,
      removeStructure: 3,
      addStructure: 4,
      permission: 1,
    })!;
    if (what === "alarm") this.#someAlarm((alarm) => this.#sound(alarm));
    if (what === "away") {
      const structure = one(dice, this.structures);
      if (structure) structure.away = dice.pick(["home", "away", "auto-away", "unknown", null]);
    }
    if (what === "fan") {
      const thermostat = one(dice, this.thermostats);
      if (thermostat) {
        thermostat.fanTimerActive = !thermostat.fanTimerActive;
        thermostat.fanTimerTimeout = `2026-01-01T00:00:${String(this.#changes % 60).padStart(2, "0")}.000Z`;
      }
    }
    if (what === "rename") this.rename();
    if (what === "flicker") this.#flicker();
    if (what === "addDevice") dice.chance(0.5) ? this.#addThermostat() : this.#addAlarm();
    if (what === "removeDevice") {
      if (dice.chance(0.5)) moveOne(dice, this.thermostats, this.#goneThermostats);
      else moveOne(dice, this.alarms, this.#goneAlarms);
    }
    if (what === "move") {
      const device = dice.chance(0.5) ? one(dice, this.thermostats) : one(dice, this.alarms);
      if (device) device.structureId = this.#somewhere();
    }
    if (what === "removeStructure" && this.structures.size > 1) this.#removeStructure();
    if (what === "addStructure" && this.structures.size < 3) this.#addStructure();
    if (what === "permission") this.hasAlarmPermission = !this.hasAlarmPermission || dice.chance(0.5);
    return what;
  }

  /** Executes a fan command. */
  runFan(thermostatId: string, isOn: boolean): void {
    const thermostat = this.thermostats.get(thermostatId);
    if (!thermostat) return;
    this.#changes += 1;
    thermostat.fanTimerActive = isOn;
    thermostat.fanTimerTimeout = `2026-01-01T00:00:${String(this.#changes % 60).padStart(2, "0")}.000Z`;
  }

  rename(): void {
    this.#changes += 1;
    const all = [...this.structures.values(), ...this.thermostats.values(), ...this.alarms.values()];
    if (all.length > 0) this.#dice.pick(all).name = this.#dice.chance(0.1) ? null : `name ${this.#changes} ⌂`;
  }

  /** A device goes offline for a moment. No alert reacts to it, but the final state must be right. */
  #flicker(): void {
    const device = this.#dice.chance(0.5) ? one(this.#dice, this.thermostats) : one(this.#dice, this.alarms);
    if (!device) return;
    const before = device.isOnline;
    device.isOnline = this.#dice.pick([true, false, null]);
    this.#undoFlicker = () => {
      device.isOnline = before;
    };
  }

  #endFlicker(): string {
    this.#undoFlicker?.();
    this.#undoFlicker = undefined;
    return "back again";
  }

  #sound(alarm: Alarm): void {
    const state = this.#dice.pick(alarmStates);
    if (this.#dice.chance(0.5)) alarm.coAlarmState = state;
    else alarm.smokeAlarmState = state;
    alarm.uiColorState = colors[state] ?? "gray";
  }

  #someAlarm(act: (alarm: Alarm) => void): void {
    const alarm = one(this.#dice, this.alarms);
    if (alarm) act(alarm);
  }

  #addStructure(): void {
    if (this.#dice.chance(0.5) && moveOne(this.#dice, this.#goneStructures, this.structures)) return;
    const id = freeId("s", 5, this.structures, this.#goneStructures);
    if (id) this.structures.set(id, { name: `Home ${id}`, away: "home" });
  }

  #removeStructure(): void {
    const id = this.#dice.pick([...this.structures.keys()]);
    moveOneById(id, this.structures, this.#goneStructures);
    // Mostly its devices are removed too; sometimes the ecosystem still lists them.
    if (this.#dice.chance(0.3)) return;
    for (const [device, { structureId }] of [...this.thermostats]) {
      if (structureId === id) moveOneById(device, this.thermostats, this.#goneThermostats);
    }
    for (const [device, { structureId }] of [...this.alarms]) {
      if (structureId === id) moveOneById(device, this.alarms, this.#goneAlarms);
    }
  }

  #addThermostat(): void {
    if (this.#dice.chance(0.5) && moveOne(this.#dice, this.#goneThermostats, this.thermostats)) return;
    const id = freeId("t", this.#mostDevices, this.thermostats, this.#goneThermostats);
    if (!id) return;
    this.thermostats.set(id, {
      structureId: this.#somewhere(),
      name: `Thermostat ${id}`,
      isOnline: true,
      hasFan: this.#dice.pick([true, true, false, null]),
      fanTimerActive: false,
      fanTimerTimeout: null,
    });
  }

  #addAlarm(): void {
    if (this.#dice.chance(0.5) && moveOne(this.#dice, this.#goneAlarms, this.alarms)) return;
    const id = freeId("p", this.#mostDevices, this.alarms, this.#goneAlarms);
    if (!id) return;
    const state = this.#dice.pick(["ok", "ok", "ok", "emergency", null]);
    this.alarms.set(id, {
      structureId: this.#somewhere(),
      name: `Protect ${id}`,
      isOnline: true,
      coAlarmState: state,
      smokeAlarmState: "ok",
      uiColorState: "green",
    });
  }

  /** Mostly the first structure, so that its ranges become full. */
  #somewhere(): string | null {
    const ids = [...this.structures.keys()];
    return (this.#dice.chance(0.7) ? ids[0] : this.#dice.pick(ids)) ?? null;
  }
}

function one<T>(dice: Dice, map: ReadonlyMap<string, T>): T | undefined {
  return map.size === 0 ? undefined : dice.pick([...map.values()]);
}

function moveOne<T>(dice: Dice, from: Map<string, T>, to: Map<string, T>): boolean {
  if (from.size === 0) return false;
  moveOneById(dice.pick([...from.keys()]), from, to);
  return true;
}

function moveOneById<T>(id: string, from: Map<string, T>, to: Map<string, T>): void {
  to.set(id, from.get(id)!);
  from.delete(id);
}

function freeId(prefix: string, most: number, ...taken: ReadonlyMap<string, unknown>[]): string | undefined {
  for (let number = 1; number <= most; number++) {
    const id = `${prefix}${number}`;
    if (!taken.some((map) => map.has(id))) return id;
  }
  return undefined;
}

function copied<T extends object>(map: ReadonlyMap<string, T>): Map<string, T> {
  return new Map([...map].map(([id, value]) => [id, { ...value }]));
}
