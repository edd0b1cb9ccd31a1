import type { Home } from "../home/home.ts";
import type { JsonObject } from "../home/json.ts";
import type { Random } from "../home/random.ts";
import { badArgument } from "../refusal.ts";
import { type PlayedScene, type RandomEvent, randomEvents } from "./random-events.ts";
import type { Scene } from "./scene.ts";

const maxSteps = 100_000;
const listedSteps = 100;
const totalWeight = randomEvents.reduce((sum, { weight }) => sum + weight, 0);

/** Plays scenes that are possible in the home, chosen by the account's random numbers. */
export function randomScene(scenes: ReadonlyMap<string, Scene>): Scene {
  return {
    name: "random",
    meaning: "Plausible changes, chosen by the account's own seeded random numbers.",
    arguments: {
      steps: "how many changes; 1 when left out",
      separately: "true sends a put for each change instead of one for all",
    },
    apply: (home, args, runtime) => {
      let changedHome = home;
      const changes: JsonObject[] = [];
      const steps = readSteps(args);
      for (let step = 0; step < steps; step++) {
        const { scene, ...chosen } = chooseEvent(changedHome, runtime.random);
        const result = scenes.get(scene)!.apply(changedHome, chosen, runtime);
        changedHome = result.home;
        changes.push({ scene, ...result.changed });
        if (changes.length > listedSteps) changes.shift();
      }
      return { home: changedHome, changed: { steps, changes } };
    },
  };
}

export function readSteps(args: JsonObject): number {
  const { steps = 1, separately = false } = args;
  if (typeof steps !== "number" || !Number.isInteger(steps) || steps < 1 || steps > maxSteps) {
    throw badArgument(`steps must be a whole number from 1 to ${maxSteps}.`);
  }
  if (typeof separately !== "boolean") throw badArgument("separately must be true or false.");
  return steps;
}

function chooseEvent(home: Home, random: Random): PlayedScene {
  const hasStructure = Object.keys(home.document.structures ?? {}).length > 0;
  // An account without structures allows only this scene; in all others leaving or coming home is always possible.
  if (!hasStructure) return { scene: "add-structure" };
  for (;;) {
    const proposal = drawEvent(random).propose(home, random);
    if (proposal !== undefined) return proposal;
  }
}

function drawEvent(random: Random): RandomEvent {
  let left = random() * totalWeight;
  for (const event of randomEvents) {
    left -= event.weight;
    if (left < 0) return event;
  }
  return randomEvents[0]!;
}
