import { Refusal } from "../refusal.ts";
import type { Attributes, Instance } from "./instance.ts";
import { setTemperatureUnit } from "./temperature-unit.ts";

/** What a scene may do beside changing states. */
export interface SceneStage {
  readonly instance: Instance;
  /** The instance restarts, and is complete again a moment later. */
  restartSoon(): void;
  /** A person deletes all tokens on the profile page. */
  deleteTokens(): void;
}

export interface Scene {
  readonly label: string;
  play(stage: SceneStage): void;
}

/** What a person or chance does in the house, by name. */
export const scenes: ReadonlyMap<string, Scene> = new Map<string, Scene>([
  ["leave", { label: "Leave", play: ({ instance }) => move(instance, "not_home") }],
  ["come-home", { label: "Come home", play: ({ instance }) => move(instance, "home") }],
  ["smoke", { label: "Smoke", play: sensing("smoke", "on") }],
  ["co", { label: "Carbon monoxide", play: sensing("carbon_monoxide", "on") }],
  ["clear", { label: "Clear the air", play: clearAir }],
  ["warmer", { label: "Target up", play: ({ instance }) => turnTarget(instance, 1) }],
  ["cooler", { label: "Target down", play: ({ instance }) => turnTarget(instance, -1) }],
  ["fan-on", { label: "Fan on", play: of("climate", undefined, { fan_mode: "on" }) }],
  ["fan-off", { label: "Fan off", play: of("climate", undefined, { fan_mode: "off" }) }],
  ["light-on", { label: "Lights on", play: of("light", "on", { brightness: 200 }) }],
  ["light-off", { label: "Lights off", play: of("light", "off", { brightness: null }) }],
  [
    "unavailable",
    { label: "Thermostat unavailable", play: each("climate", (instance, entityId) => instance.lose(entityId)) },
  ],
  [
    "available",
    { label: "Thermostat available", play: each("climate", (instance, entityId) => instance.find(entityId)) },
  ],
  ["rename", { label: "Rename an entity id", play: ({ instance }) => renameLight(instance) }],
  ["fahrenheit", { label: "Use °F", play: ({ instance }) => setTemperatureUnit(instance, "°F") }],
  ["celsius", { label: "Use °C", play: ({ instance }) => setTemperatureUnit(instance, "°C") }],
  ["restart", { label: "Restart the instance", play: (stage) => stage.restartSoon() }],
  ["delete-tokens", { label: "Delete all tokens", play: (stage) => stage.deleteTokens() }],
]);

/** Plays a scene. Throws a refusal for an unknown one. */
export function playScene(stage: SceneStage, name: string): void {
  const scene = scenes.get(name);
  if (!scene)
    throw new Refusal(400, "bad_argument", `There is no scene ${name}. Known: ${[...scenes.keys()].join(", ")}.`);
  scene.play(stage);
}

export function entitiesOf({ states }: Instance, domain: string): readonly string[] {
  return [...states.keys()].filter((entityId) => entityId.startsWith(`${domain}.`));
}

function each(domain: string, act: (instance: Instance, entityId: string) => void): Scene["play"] {
  return ({ instance }) => {
    for (const entityId of entitiesOf(instance, domain)) act(instance, entityId);
  };
}

function of(domain: string, state: string | undefined, attributes: Attributes): Scene["play"] {
  return each(domain, (instance, entityId) => instance.change(entityId, state, attributes));
}

/** Persons come and go together; the zone counts them. */
export function move(instance: Instance, place: "home" | "not_home"): void {
  const persons = entitiesOf(instance, "person");
  for (const person of persons) instance.change(person, place);
  const there = place === "home" ? persons : [];
  instance.change("zone.home", String(there.length), { persons: there });
}

function sensing(deviceClass: string, state: "on" | "off"): Scene["play"] {
  return ({ instance }) => {
    const [first] = sensorsOf(instance, deviceClass);
    if (first !== undefined) instance.change(first, state);
  };
}

function clearAir({ instance }: SceneStage): void {
  for (const entityId of alarmsOf(instance)) instance.change(entityId, "off");
}

/** The entities of smoke and carbon monoxide alarms. */
export function alarmsOf(instance: Instance): readonly string[] {
  return ["smoke", "carbon_monoxide"].flatMap((deviceClass) => sensorsOf(instance, deviceClass));
}

function sensorsOf({ states }: Instance, deviceClass: string): readonly string[] {
  return [...states].filter(([, { attributes }]) => attributes.device_class === deviceClass).map(([id]) => id);
}

function turnTarget(instance: Instance, steps: number): void {
  for (const entityId of entitiesOf(instance, "climate")) {
    const { temperature, target_temp_step: step = 1 } = instance.states.get(entityId)!.attributes;
    if (typeof temperature !== "number") continue;
    instance.change(entityId, undefined, { temperature: temperature + steps * Number(step) });
  }
}

/** A person renames an entity id, and another time back. */
function renameLight(instance: Instance): void {
  const [light] = entitiesOf(instance, "light");
  if (light === undefined) return;
  instance.renameEntity(light, light.endsWith("_renamed") ? light.replace(/_renamed$/, "") : `${light}_renamed`);
}
