import type { DeviceKind, Structure } from "../home/account-document.ts";
import { addDevice } from "../home/devices.ts";
import { entryOf } from "../home/element.ts";
import type { Home } from "../home/home.ts";
import { addStructure, removeStructure, returnStructure } from "../home/structures.ts";
import { impossible } from "../refusal.ts";
import { chooseStructure, deviceIds, readCount, readName, structureArgument, structuresOf } from "./arguments.ts";
import type { Scene, SceneRuntime } from "./scene.ts";

const maxDevices = 200;

/** Structures that are added, removed and restored with their devices. */
export const structureScenes: readonly Scene[] = [
  {
    name: "add-structure",
    meaning: "The account gets another structure.",
    arguments: {
      name: "its name; one of a list when left out",
      thermostats: "how many thermostats it has; 1 when left out",
      alarms: "how many alarms it has; 1 when left out",
    },
    apply: (home, args, runtime) => {
      const thermostats = readCount(args, "thermostats", 1, maxDevices);
      const alarms = readCount(args, "alarms", 1, maxDevices);
      const [{ structure_id: structure, name }, added] = addStructure(home, readName(args), runtime.random);
      const filled = fill(
        fill(added, structure, "thermostats", thermostats, runtime),
        structure,
        "smoke_co_alarms",
        alarms,
        runtime,
      );
      return { home: filled, changed: { structure, name } };
    },
  },
  {
    name: "remove-structure",
    meaning: "A structure leaves the account, and its devices with it.",
    arguments: structureArgument,
    apply: (home, args) => {
      const structure = chooseStructure(home.document, args.structure);
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
    apply: (home, _, runtime) => {
      let filled = home;
      while (structuresOf(filled).length < 2) filled = addStructure(filled, undefined, runtime.random)[1];
      for (const { structure_id: id } of structuresOf(filled).slice(0, 2)) {
        filled = fill(filled, id, "thermostats", 20, runtime);
        filled = fill(filled, id, "smoke_co_alarms", 18, runtime);
      }
      return { home: filled, changed: { structures: structuresOf(filled).map(({ structure_id: id }) => id) } };
    },
  },
];

/** Adds devices to a structure until it has `count` of them. */
function fill(home: Home, structureId: string, kind: DeviceKind, count: number, runtime: SceneRuntime): Home {
  let filled = home;
  for (;;) {
    const structure = filled.document.structures![structureId]!;
    if (deviceIds(filled.document, kind, structure).length >= count) return filled;
    filled = addDevice(filled, kind, structure, runtime.random, runtime.nowMs)[1];
  }
}

function isAbsent(home: Home, structure: Structure): boolean {
  return entryOf(home.document.structures, structure.structure_id) === undefined;
}
