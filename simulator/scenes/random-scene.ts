import type { Home } from "../home/home.ts";
import type { JsonObject } from "../home/json.ts";
import type { Random } from "../home/random.ts";
import { badArgument } from "../refusal.ts";
import { type Happening, happenings, type PlayedScene } from "./happenings.ts";
import type { Scene } from "./scene.ts";

const mostSteps = 100_000;
const listedSteps = 100;
const totalWeight = happenings.reduce((sum, { weight }) => sum + weight, 0);

/** Plays scenes that the account's own random numbers choose among all that could happen in the home just now. */
export function randomScene(scenes: ReadonlyMap<string, Scene>): Scene {
  return {
    name: "random",
    meaning: "Plausible changes, chosen by the account's own seeded random numbers.",
    arguments: {
      steps: "how many changes; 1 when left out",
      separately: "true sends a put for each change instead of one for all",
    },
    apply: (home, given, runtime) => {
      let changedHome = home;
      const changes: JsonObject[] = [];
      const steps = readSteps(given);
      for (let step = 0; step < steps; step++) {
        const { scene, ...chosen } = chooseHappening(changedHome, runtime.random);
        const result = scenes.get(scene)!.apply(changedHome, chosen, runtime);
        changedHome = result.home;
        changes.push({ scene, ...result.changed });
        if (changes.length > listedSteps) changes.shift();
      }
      return { home: changedHome, changed: { steps, changes } };
    },
  };
}

/** Reads the `steps` of a random scene. */
export function readSteps(given: JsonObject): number {
  const { steps = 1, separately = false } = given;
  if (typeof steps !== "number" || !Number.isInteger(steps) || steps < 1 || steps > mostSteps) {
    throw badArgument(`steps must be a whole number from 1 to ${mostSteps}.`);
  }
  if (typeof separately !== "boolean") throw badArgument("separately must be true or false.");
  return steps;
}

function chooseHappening(home: Home, random: Random): PlayedScene {
  const hasStructure = Object.keys(home.document.structures ?? {}).length > 0;
  // In an empty account only one thing can happen; in every other, leaving or coming home always can.
  if (!hasStructure) return { scene: "add-structure" };
  for (;;) {
    const proposal = drawHappening(random).propose(home, random);
    if (proposal !== undefined) return proposal;
  }
}

function drawHappening(random: Random): Happening {
  let left = random() * totalWeight;
  for (const happening of happenings) {
    left -= happening.weight;
    if (left < 0) return happening;
  }
  return happenings[0]!;
}
