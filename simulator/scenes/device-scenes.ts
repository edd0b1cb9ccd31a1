import { type DeviceKind, deviceKinds } from "../home/account-document.ts";
import { addDevice, attach, moveDevice, removeDevice } from "../home/devices.ts";
import { entryOf } from "../home/element.ts";
import type { Home, RemovedDevice } from "../home/home.ts";
import type { JsonObject } from "../home/json.ts";
import { impossible } from "../refusal.ts";
import {
  alarmArguments,
  chooseDevice,
  chooseStructure,
  deviceIds,
  deviceWords,
  structureArgument,
  thermostatArguments,
} from "./arguments.ts";
import type { Scene } from "./scene.ts";

/** Devices that are added, removed, restored and moved. */
export const deviceScenes: readonly Scene[] = [
  adding("add-thermostat", "A new thermostat is installed.", "thermostats"),
  adding("add-alarm", "A new alarm is installed.", "smoke_co_alarms"),
  removing("remove-thermostat", "A thermostat leaves the account.", "thermostats"),
  removing("remove-alarm", "An alarm leaves the account.", "smoke_co_alarms"),
  {
    name: "return",
    meaning: "The device that was removed last comes back as it was, in its structure or else in the first one.",
    arguments: {},
    apply: (home) => {
      const removed = home.removedDevices.findLast((candidate) => isAbsent(home, candidate));
      if (removed === undefined) throw impossible("No removed device could come back.");
      const isHomeThere = entryOf(home.document.structures, removed.device.structure_id) !== undefined;
      const document = isHomeThere
        ? attach(home.document, removed)
        : moveDevice(home.document, removed, chooseStructure(home.document, undefined));
      const removedDevices = home.removedDevices.filter((other) => other !== removed);
      return { home: { ...home, document, removedDevices }, changed: idsOf(removed) };
    },
  },
  {
    name: "move",
    meaning: "A device moves to another structure of the account.",
    arguments: {
      thermostat: "number or id of the thermostat that moves",
      alarm: "number or id of the alarm that moves; without both, the first thermostat or else the first alarm",
      structure: "number or id of the structure in which devices are counted",
      to: "number or id of the structure it moves to; the next one when left out",
    },
    apply: (home, args) => {
      const chosen = chooseDeviceToMove(home, args);
      const to = chooseDestination(home, args, chosen.device.structure_id);
      const document = moveDevice(home.document, chosen, to);
      return { home: { ...home, document }, changed: { ...idsOf(chosen), structure: to.structure_id } };
    },
  },
];

function adding(name: string, meaning: string, kind: DeviceKind): Scene {
  return {
    name,
    meaning,
    arguments: structureArgument,
    apply: (home, args, { random, nowMs }) => {
      const structure = chooseStructure(home.document, args.structure);
      const [id, next] = addDevice(home, kind, structure, random, nowMs);
      return { home: next, changed: { [deviceWords[kind]]: id, structure: structure.structure_id } };
    },
  };
}

function removing(name: string, meaning: string, kind: DeviceKind): Scene {
  return {
    name,
    meaning,
    arguments: kind === "thermostats" ? thermostatArguments : alarmArguments,
    apply: (home, args) => {
      const chosen = chooseDevice(home.document, kind, args);
      return { home: removeDevice(home, kind, chosen.device.device_id), changed: idsOf(chosen) };
    },
  };
}

function chooseDeviceToMove({ document }: Home, args: JsonObject): RemovedDevice {
  const named = deviceKinds.find((kind) => args[deviceWords[kind]] !== undefined);
  const kind = named ?? deviceKinds.find((candidate) => deviceIds(document, candidate).length > 0);
  if (kind === undefined) throw impossible("The account has no device that could move.");
  return chooseDevice(document, kind, args);
}

function chooseDestination({ document }: Home, args: JsonObject, from: string) {
  if (args.to !== undefined) return chooseStructure(document, args.to, "to");
  const structures = Object.values(document.structures ?? {});
  const next = structures[(structures.findIndex(({ structure_id: id }) => id === from) + 1) % structures.length];
  if (next === undefined || next.structure_id === from) throw impossible("There is no other structure to move to.");
  return next;
}

function isAbsent({ document }: Home, { kind, device }: RemovedDevice): boolean {
  return entryOf<unknown>(document.devices?.[kind], device.device_id) === undefined;
}

function idsOf({ kind, device }: RemovedDevice): JsonObject {
  return { [deviceWords[kind]]: device.device_id, structure: device.structure_id ?? null };
}
