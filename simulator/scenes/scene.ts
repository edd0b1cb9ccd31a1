import type { Home } from "../home/home.ts";
import type { JsonObject } from "../home/json.ts";
import type { Random } from "../home/random.ts";

/** Something that happens in a home, by name. Applying it is a plain function: the old home in, the new home out. */
export interface Scene {
  readonly name: string;
  /** One sentence for the list of scenes. */
  readonly meaning: string;
  /** The arguments it takes and what each means; all are optional unless the meaning says otherwise. */
  readonly arguments: Readonly<Record<string, string>>;
  readonly apply: (home: Home, given: JsonObject, runtime: SceneRuntime) => SceneResult;
}

export interface SceneRuntime {
  readonly random: Random;
  readonly nowMs: number;
}

export interface SceneResult {
  readonly home: Home;
  /** What changed, in the words of the document. */
  readonly changed: JsonObject;
}
