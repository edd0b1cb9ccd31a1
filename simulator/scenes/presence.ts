import type { Structure } from "../home/account-document.ts";
import { changeStructure } from "../home/edits.ts";
import { chooseStructure, structureArgument } from "./arguments.ts";
import type { Scene } from "./scene.ts";

/** Who is at home: the three words of `away`. */
export const presenceScenes: readonly Scene[] = [
  presence("leave", "Everybody leaves the structure.", "away"),
  presence("come-home", "Somebody comes home.", "home"),
  presence(
    "auto-away",
    "Nobody has passed the devices for a while, and the structure takes itself for empty.",
    "auto-away",
  ),
];

function presence(name: string, meaning: string, away: Structure["away"]): Scene {
  return {
    name,
    meaning,
    arguments: structureArgument,
    apply: (home, given) => {
      const { structure_id: structure } = chooseStructure(home.document, given.structure);
      return {
        home: { ...home, document: changeStructure(home.document, structure, { away }) },
        changed: { structure, away },
      };
    },
  };
}
