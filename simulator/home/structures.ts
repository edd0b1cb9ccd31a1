import { impossible } from "../refusal.ts";
import { deviceKinds, type Structure } from "./account-document.ts";
import { hang } from "./devices.ts";
import { takeDevice, without } from "./edits.ts";
import { entryOf } from "./element.ts";
import { type Home, type RemovedDevice, type RemovedStructure, takeId } from "./home.ts";
import { newStructure } from "./new-structure.ts";
import { places, structureNames } from "./places.ts";
import { pick, type Random } from "./random.ts";

/** An account of the ecosystem has no more. */
export const mostStructures = 3;
const rememberedStructures = 10;

/** Adds a structure without devices. Without a name it takes the first pleasant one that is free. */
export function addStructure(home: Home, name: string | undefined, random: Random): [structure: Structure, home: Home] {
  refuseFourth(home);
  const [structureId, next] = takeId(home, 43);
  const structure = newStructure(structureId, name ?? unusedName(home), pick(random, places)!);
  return [structure, { ...next, document: withStructure(home.document, structure) }];
}

/** Takes a structure with its devices out of the account and remembers them together. */
export function removeStructure(home: Home, structure: Structure): Home {
  const devices: RemovedDevice[] = [];
  let document = home.document;
  for (const kind of deviceKinds) {
    for (const id of structure[kind] ?? []) {
      const device = entryOf<RemovedDevice["device"]>(document.devices?.[kind], id);
      if (device === undefined) continue;
      devices.push({ kind, device });
      document = takeDevice(document, kind, id);
    }
  }
  return {
    ...home,
    document: { ...document, structures: without(document.structures ?? {}, structure.structure_id) },
    removedStructures: [...home.removedStructures, { structure, devices }].slice(-rememberedStructures),
  };
}

/** Brings a removed structure back with the devices it had. */
export function returnStructure(home: Home, removed: RemovedStructure): Home {
  refuseFourth(home);
  const { thermostats: _, smoke_co_alarms: __, ...bare } = removed.structure;
  return {
    ...home,
    document: removed.devices.reduce(hang, withStructure(home.document, bare)),
    removedStructures: home.removedStructures.filter((other) => other !== removed),
  };
}

function refuseFourth({ document }: Home): void {
  if (Object.keys(document.structures ?? {}).length < mostStructures) return;
  throw impossible(`An account has at most ${mostStructures} structures.`);
}

function withStructure(document: Home["document"], structure: Structure): Home["document"] {
  return { ...document, structures: { ...document.structures, [structure.structure_id]: structure } };
}

function unusedName(home: Home): string {
  const taken = new Set(Object.values(home.document.structures ?? {}).map((structure) => structure.name));
  const free = structureNames.find((name) => !taken.has(name));
  return free ?? `${structureNames[0]} ${home.idsGiven}`;
}
