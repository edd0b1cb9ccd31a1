import type { AccountDocument, DeviceKind, SmokeCoAlarm, Structure, Thermostat } from "../home/account-document.ts";
import { unusedLabel } from "../home/devices.ts";
import { entryOf } from "../home/element.ts";
import type { Home } from "../home/home.ts";
import type { JsonObject } from "../home/json.ts";
import { structureNames, usualRooms } from "../home/places.ts";
import { pick, type Random } from "../home/random.ts";
import { maxStructures } from "../home/structures.ts";
import { deviceIds, structuresOf } from "./arguments.ts";

/** A scene with its arguments. */
export type PlayedScene = JsonObject & { readonly scene: string };

/** A plausible event; `propose` returns undefined if it is not possible in this home now. */
export interface RandomEvent {
  readonly weight: number;
  readonly propose: (home: Home, random: Random) => PlayedScene | undefined;
}

// More than the service maps (2 structures, 20 thermostats, 18 alarms), so that its limits are tested too.
const most = { structures: maxStructures, thermostats: 22, smoke_co_alarms: 20 };

/** All random events with their weights. */
export const randomEvents: readonly RandomEvent[] = [
  { weight: 40, propose: thermostatThat(() => true, "drift") },
  { weight: 8, propose: structureThat(({ away }) => away === "home", "leave") },
  { weight: 10, propose: structureThat(({ away }) => away !== "home", "come-home") },
  { weight: 4, propose: structureThat(({ away }) => away === "home", "auto-away") },
  { weight: 2, propose: alarmThat(isQuiet, "smoke") },
  { weight: 4, propose: alarmThat(isQuiet, "smoke-warning") },
  { weight: 2, propose: alarmThat(isQuiet, "co-emergency") },
  { weight: 4, propose: alarmThat(isQuiet, "co-warning") },
  { weight: 30, propose: alarmThat((alarm) => !isQuiet(alarm), "clear") },
  { weight: 3, propose: thermostatThat(({ is_online: isOnline }) => isOnline, "thermostat-offline") },
  { weight: 20, propose: thermostatThat(({ is_online: isOnline }) => !isOnline, "thermostat-online") },
  { weight: 3, propose: alarmThat(({ is_online: isOnline }) => isOnline, "alarm-offline") },
  { weight: 20, propose: alarmThat(({ is_online: isOnline }) => !isOnline, "alarm-online") },
  { weight: 6, propose: thermostatThat(canStartFan, "fan-on") },
  { weight: 8, propose: thermostatThat(({ fan_timer_active: isActive }) => isActive, "fan-off") },
  { weight: 1, propose: renameStructure },
  { weight: 1, propose: renameThermostat },
  { weight: 2, propose: structureThat((structure) => hasRoom(structure, "thermostats"), "add-thermostat") },
  { weight: 2, propose: structureThat((structure) => hasRoom(structure, "smoke_co_alarms"), "add-alarm") },
  { weight: 1.5, propose: thermostatThat(() => true, "remove-thermostat") },
  { weight: 1.5, propose: alarmThat(() => true, "remove-alarm") },
  { weight: 2, propose: (home) => (canReturn(home) ? { scene: "return" } : undefined) },
  { weight: 1, propose: moveThermostat },
  {
    weight: 0.3,
    propose: (home) => (structuresOf(home).length < most.structures ? { scene: "add-structure" } : undefined),
  },
  {
    weight: 0.3,
    propose: (home, random) => (structuresOf(home).length > 1 ? removeStructure(home, random) : undefined),
  },
  { weight: 0.5, propose: (home) => (canReturnStructure(home) ? { scene: "return-structure" } : undefined) },
];

function structureThat(matches: (structure: Structure) => boolean, scene: string): RandomEvent["propose"] {
  return (home, random) => {
    const structure = pick(random, structuresOf(home).filter(matches));
    return structure && { scene, structure: structure.structure_id };
  };
}

function thermostatThat(matches: (thermostat: Thermostat) => boolean, scene: string): RandomEvent["propose"] {
  return ({ document }, random) => {
    const thermostat = pickDevice(document, "thermostats", document.devices?.thermostats, matches, random);
    return thermostat === undefined ? undefined : { scene, thermostat };
  };
}

function alarmThat(matches: (alarm: SmokeCoAlarm) => boolean, scene: string): RandomEvent["propose"] {
  return ({ document }, random) => {
    const alarm = pickDevice(document, "smoke_co_alarms", document.devices?.smoke_co_alarms, matches, random);
    return alarm === undefined ? undefined : { scene, alarm };
  };
}

function pickDevice<T>(
  document: AccountDocument,
  kind: DeviceKind,
  listing: Readonly<Record<string, T>> | undefined,
  matches: (device: T) => boolean,
  random: Random,
): string | undefined {
  return pick(
    random,
    deviceIds(document, kind).filter((id) => matches(listing![id]!)),
  );
}

function isQuiet(alarm: SmokeCoAlarm): boolean {
  return alarm.smoke_alarm_state === "ok" && alarm.co_alarm_state === "ok";
}

function canStartFan(thermostat: Thermostat): boolean {
  return thermostat.has_fan && thermostat.is_online && !thermostat.fan_timer_active;
}

function hasRoom(structure: Structure, kind: DeviceKind): boolean {
  return (structure[kind] ?? []).length < most[kind];
}

function renameStructure(home: Home, random: Random): PlayedScene | undefined {
  const structure = pick(random, structuresOf(home));
  return structure && { scene: "rename", structure: structure.structure_id, name: pick(random, structureNames)! };
}

function renameThermostat(home: Home, random: Random): PlayedScene | undefined {
  const thermostat = pick(random, deviceIds(home.document, "thermostats"));
  if (thermostat === undefined) return undefined;
  const room = pick(random, usualRooms.thermostats)!;
  return { scene: "rename", thermostat, name: `${room} (${unusedLabel(home, room, random)})` };
}

function moveThermostat(home: Home, random: Random): PlayedScene | undefined {
  const thermostat = pick(random, deviceIds(home.document, "thermostats"));
  const from = entryOf(home.document.devices?.thermostats, thermostat ?? "")?.structure_id;
  const matching = structuresOf(home).filter(
    (structure) => structure.structure_id !== from && hasRoom(structure, "thermostats"),
  );
  const to = pick(random, matching);
  return thermostat === undefined || to === undefined ? undefined : { scene: "move", thermostat, to: to.structure_id };
}

function removeStructure(home: Home, random: Random): PlayedScene {
  return { scene: "remove-structure", structure: pick(random, structuresOf(home))!.structure_id };
}

function canReturn(home: Home): boolean {
  const last = home.removedDevices.at(-1);
  if (last === undefined || structuresOf(home).length === 0) return false;
  const destination = entryOf(home.document.structures, last.device.structure_id) ?? structuresOf(home)[0]!;
  const isAbsent = entryOf<unknown>(home.document.devices?.[last.kind], last.device.device_id) === undefined;
  return isAbsent && hasRoom(destination, last.kind);
}

function canReturnStructure(home: Home): boolean {
  const last = home.removedStructures.at(-1)?.structure.structure_id;
  if (last === undefined || structuresOf(home).length >= most.structures) return false;
  return entryOf(home.document.structures, last) === undefined;
}
