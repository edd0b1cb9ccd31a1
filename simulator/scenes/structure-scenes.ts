import type { DeviceKind, Structure } from "../home/account-document.ts";
import { addDevice } from "../home/devices.ts";
import { entryOf } from "../home/element.ts";
import type { Home } from "../home/home.ts";
import { addStructure, removeStructure, returnStructure } from "../home/structures.ts";
import { impossible } from "../refusal.ts";
import { chooseStructure, deviceIds, readCount, readName, structureArgument } from "./arguments.ts";
import type { Scene, SceneSurroundings } from "./scene.ts";

const mostDevices = 200;

/** Structures that come and go with all that hangs in them. */
export const structureScenes: readonly Scene[] = [
  {
    name: "add-structure",
    meaning: "The account gets another structure.",
    arguments: {
      name: "its name; a pleasant one when left out",
      thermostats: "how many thermostats it has; 1 when left out",
      alarms: "how many alarms it has; 1 when left out",
    },
    apply: (home, given, surroundings) => {
      const thermostats = readCount(given, "thermostats", 1, mostDevices);
      const alarms = readCount(given, "alarms", 1, mostDevices);
      const [{ structure_id: structure, name }, added] = addStructure(home, readName(given), surroundings.random);
      const filled = fill(
        fill(added, structure, "thermostats", thermostats, surroundings),
        structure,
        "smoke_co_alarms",
        alarms,
        surroundings,
      );
      return { home: filled, changed: { structure, name } };
    },
  },
  {
    name: "remove-structure",
    meaning: "A structure leaves the account, and its devices with it.",
    arguments: structureArgument,
    apply: (home, given) => {
      const structure = chooseStructure(home.document, given.structure);
      return { home: removeStructure(home, structure), changed: { structure: structure.structure_id } };
    },
  },
  {
    name: "return-structure",
    meaning: "The structure that was removed last comes back with the devices it had.",
    arguments: {},
    apply: (home) => {
      const removed = home.removedStructures.findLast(({ structure }) => isAbsent(home, structure));
      if (removed === undefined) throw impossible("No removed structure could come back.");
      return { home: returnStructure(home, removed), changed: { structure: removed.structure.structure_id } };
    },
  },
  {
    name: "fill-up",
    meaning: "The account grows to two structures with 20 thermostats and 18 alarms each.",
    arguments: {},
    apply: (home, _, surroundings) => {
      let filled = home;
      while (structuresOf(filled).length < 2) filled = addStructure(filled, undefined, surroundings.random)[1];
      for (const { structure_id: id } of structuresOf(filled).slice(0, 2)) {
        filled = fill(filled, id, "thermostats", 20, surroundings);
        filled = fill(filled, id, "smoke_co_alarms", 18, surroundings);
      }
      return { home: filled, changed: { structures: structuresOf(filled).map(({ structure_id: id }) => id) } };
    },
  },
];

/** Adds devices to a structure until it has so many. */
function fill(home: Home, structureId: string, kind: DeviceKind, count: number, surroundings: SceneSurroundings): Home {
  let filled = home;
  for (;;) {
    const structure = filled.document.structures![structureId]!;
    if (deviceIds(filled.document, kind, structure).length >= count) return filled;
    filled = addDevice(filled, kind, structure, surroundings.random, surroundings.nowMs)[1];
  }
}

function structuresOf(home: Home): readonly Structure[] {
  return Object.values(home.document.structures ?? {});
}

function isAbsent(home: Home, structure: Structure): boolean {
  return entryOf(home.document.structures, structure.structure_id) === undefined;
}
