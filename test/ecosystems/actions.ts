import type { Action } from "../../src/ecosystems/connector.ts";
import { thermostatIn, thermostatKey } from "../../src/home/reported-things.ts";

/** Starts or stops the fan of a thermostat. */
export function fanAction(thermostatId: string, isOn: boolean): Action {
  return { key: thermostatKey(thermostatId), step: { trait: "fanTimer", set: { active: isOn } } };
}

/** What an action does to a fan; for tests that send nothing else. */
export function fanOf({ key, step }: Action): { readonly thermostatId: string; readonly isOn: boolean } {
  const thermostatId = thermostatIn(key);
  if (thermostatId === undefined || step.trait !== "fanTimer") throw new TypeError("the action runs no fan");
  return { thermostatId, isOn: step.set.active === true };
}
