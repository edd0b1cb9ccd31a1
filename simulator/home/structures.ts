import { impossible } from "../refusal.ts";
import { deviceKinds, type Structure } from "./account-document.ts";
import { attach } from "./devices.ts";
import { removeFromListing, without } from "./edits.ts";
import { entryOf } from "./element.ts";
import { type Home, type RemovedDevice, type RemovedStructure, takeId } from "./home.ts";
import { newStructure } from "./new-structure.ts";
import { places, structureNames } from "./places.ts";
import { pick, type Random } from "./random.ts";

/** The ecosystem's limit. */
export const maxStructures = 3;
const rememberedStructures = 10;

/** Adds a structure without devices. Without a name it gets the first unused name of a list. */
export function addStructure(home: Home, name: string | undefined, random: Random): [structure: Structure, home: Home] {
  checkStructureLimit(home);
  const [structureId, next] = takeId(home, 43);
  const structure = newStructure(structureId, name ?? unusedName(home), pick(random, places)!);
  return [structure, { ...next, document: withStructure(home.document, structure) }];
}

/** Removes a structure with its devices and stores them, so that they can return. */
export function removeStructure(home: Home, structure: Structure): Home {
  const devices: RemovedDevice[] = [];
  let document = home.document;
  for (const kind of deviceKinds) {
    for (const id of structure[kind] ?? []) {
      const device = entryOf<RemovedDevice["device"]>(document.devices?.[kind], id);
      if (device === undefined) continue;
      devices.push({ kind, device });
      document = removeFromListing(document, kind, id);
    }
  }
  return {
    ...home,
    document: { ...document, structures: without(document.structures ?? {}, structure.structure_id) },
    removedStructures: [...home.removedStructures, { structure, devices }].slice(-rememberedStructures),
  };
}

/** Restores a removed structure with its devices. */
export function returnStructure(home: Home, removed: RemovedStructure): Home {
  checkStructureLimit(home);
  const { thermostats: _, smoke_co_alarms: __, ...bare } = removed.structure;
  return {
    ...home,
    document: removed.devices.reduce(attach, withStructure(home.document, bare)),
    removedStructures: home.removedStructures.filter((other) => other !== removed),
  };
}

function checkStructureLimit({ document }: Home): void {
  if (Object.keys(document.structures ?? {}).length < maxStructures) return;
  throw impossible(`An account has at most ${maxStructures} structures.`);
}

function withStructure(document: Home["document"], structure: Structure): Home["document"] {
  return { ...document, structures: { ...document.structures, [structure.structure_id]: structure } };
}

function unusedName(home: Home): string {
  const taken = new Set(Object.values(home.document.structures ?? {}).map((structure) => structure.name));
  const free = structureNames.find((name) => !taken.has(name));
  return free ?? `${structureNames[0]} ${home.issuedIdCount}`;
}
