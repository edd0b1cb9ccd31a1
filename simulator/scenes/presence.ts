import type { Structure } from "../home/account-document.ts";
import { changeStructure } from "../home/edits.ts";
import { chooseStructure, structureArgument } from "./arguments.ts";
import type { Scene } from "./scene.ts";

/** One scene for each value of `away`. */
export const presenceScenes: readonly Scene[] = [
  presence("leave", "Everybody leaves the structure.", "away"),
  presence("come-home", "Somebody comes home.", "home"),
  presence("auto-away", "The devices have seen nobody for a while, so the structure counts as empty.", "auto-away"),
];

function presence(name: string, meaning: string, away: Structure["away"]): Scene {
  return {
    name,
    meaning,
    arguments: structureArgument,
    apply: (home, args) => {
      const { structure_id: structure } = chooseStructure(home.document, args.structure);
      return {
        home: { ...home, document: changeStructure(home.document, structure, { away }) },
        changed: { structure, away },
      };
    },
  };
}
