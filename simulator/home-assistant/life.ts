import type { Cancel, Clock } from "../clock.ts";
import { pick, type Random } from "../home/random.ts";
import type { Instance } from "./instance.ts";
import { move } from "./scenes.ts";

export interface LifeOptions {
  /** The time between two events. */
  readonly everyMs: number;
  readonly random: Random;
  /** How long life pauses after a person or a client has changed something; two minutes when left out. */
  readonly restMs?: number;
}

/**
 * Plays the events of an ordinary day: people leave and come home, lights and the kettle are switched, a fan starts and
 * stops, temperatures drift. There are no emergencies. After a change by a person or a client life pauses.
 */
export function startLife(instance: Instance, clock: Clock, options: LifeOptions): Cancel {
  const { everyMs, random, restMs = 120_000 } = options;
  let cancel: Cancel = () => undefined;
  let isVisibleTurn = true;
  const wait = () => {
    cancel = clock.after(everyMs, () => {
      if (instance.runState === "RUNNING" && clock.nowMs() - instance.touchedMs >= restMs) {
        if (isVisibleTurn) pick(random, visible)!(instance);
        else drift(instance, random);
        isVisibleTurn = !isVisibleTurn;
      }
      wait();
    });
  };
  wait();
  return () => cancel();
}

const visible: readonly ((instance: Instance) => void)[] = [
  (instance) => toggle(instance, "switch.kettle"),
  (instance) => toggle(instance, lightOf(instance)),
  (instance) => toggle(instance, "fan.bedroom"),
  (instance) => move(instance, instance.states.get("person.ada")?.state === "home" ? "not_home" : "home"),
];

function lightOf({ states }: Instance): string {
  return [...states.keys()].find((entityId) => entityId.startsWith("light.")) ?? "";
}

function toggle(instance: Instance, entityId: string): void {
  const entity = instance.states.get(entityId);
  if (!entity || entity.state === "unavailable") return;
  const isOn = entity.state === "on";
  const brightness = entityId.startsWith("light.") ? { brightness: isOn ? null : 150 } : {};
  instance.change(entityId, isOn ? "off" : "on", brightness);
}

function drift(instance: Instance, random: Random): void {
  for (const [entityId, { state, attributes }] of [...instance.states]) {
    const current = attributes.current_temperature;
    if (!entityId.startsWith("climate.") || typeof current !== "number" || state === "unavailable") continue;
    const next = Math.round((current + (random() - 0.5)) * 10) / 10;
    instance.change(entityId, undefined, { current_temperature: next });
  }
}
