import type { Home } from "../home/home.ts";
import type { JsonObject } from "../home/json.ts";
import { badArgument, Refusal } from "../refusal.ts";
import { alarmScenes } from "./alarm-scenes.ts";
import { connectionScenes } from "./connection.ts";
import { deviceScenes } from "./device-scenes.ts";
import { presenceScenes } from "./presence.ts";
import { randomScene } from "./random-scene.ts";
import { renameScene } from "./rename.ts";
import type { Scene, SceneResult, SceneRuntime } from "./scene.ts";
import { structureScenes } from "./structure-scenes.ts";
import { thermostatScenes } from "./thermostat-scenes.ts";

const plainScenes: readonly Scene[] = [
  ...presenceScenes,
  ...alarmScenes,
  ...connectionScenes,
  renameScene,
  ...deviceScenes,
  ...structureScenes,
  ...thermostatScenes,
];

/** Every scene by name, in the order in which they are listed. */
export const scenes: ReadonlyMap<string, Scene> = byName([...plainScenes, randomScene(byName(plainScenes))]);

/** Plays `{"scene": name, …arguments}`. */
export function playScene(home: Home, played: JsonObject, runtime: SceneRuntime): SceneResult {
  const { scene: name, ...args } = played;
  const scene = findScene(name);
  const unknown = Object.keys(args).find((argument) => !Object.hasOwn(scene.arguments, argument));
  if (unknown !== undefined) {
    const known = Object.keys(scene.arguments).join(", ") || "none";
    throw badArgument(`The scene ${scene.name} has no argument ${unknown}; its arguments are: ${known}.`);
  }
  return scene.apply(home, args, runtime);
}

function findScene(name: unknown): Scene {
  if (typeof name !== "string") throw badArgument("scene must be the name of a scene.");
  const scene = scenes.get(name);
  if (scene !== undefined) return scene;
  throw new Refusal(
    404,
    "unknown_scene",
    `There is no scene ${name}. The scenes are: ${[...scenes.keys()].join(", ")}.`,
  );
}

function byName(list: readonly Scene[]): ReadonlyMap<string, Scene> {
  return new Map(list.map((scene) => [scene.name, scene]));
}
