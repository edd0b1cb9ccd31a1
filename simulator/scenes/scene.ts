import type { Home } from "../home/home.ts";
import type { JsonObject } from "../home/json.ts";
import type { Random } from "../home/random.ts";

/** A named change of a home. `apply` is a pure function from the old home to the new one. */
export interface Scene {
  readonly name: string;
  /** One sentence for the list of scenes. */
  readonly meaning: string;
  /** The arguments with their meanings; all are optional unless the meaning says otherwise. */
  readonly arguments: Readonly<Record<string, string>>;
  readonly apply: (home: Home, args: JsonObject, runtime: SceneRuntime) => SceneResult;
}

export interface SceneRuntime {
  readonly random: Random;
  readonly nowMs: number;
}

export interface SceneResult {
  readonly home: Home;
  /** What changed, with the field names of the document. */
  readonly changed: JsonObject;
}
