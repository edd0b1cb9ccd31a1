import type { Simulator } from "../../simulator/simulator.ts";
import { attributeName, structureAttribute, thermostatAttribute } from "../../src/model/attribute-names.ts";
import type { House } from "../house.ts";

export interface ActParts {
  readonly house: House;
  readonly simulator: Simulator;
}

const scenes = ["leave", "come-home", "smoke", "clear"];

/**
 * Does what a button of the page says: things happen in the simulated house as they would at home, and a fan is asked
 * for as any client does. Answers why it could not be done; undefined when it was.
 */
export async function actOn(parts: ActParts, act: string): Promise<string | undefined> {
  const { house, simulator } = parts;
  const { byClient } = house.keys;
  simulator.touch(house.accountId);
  const [, scene = "", x = ""] = /^([a-z-]+):([12])$/.exec(act) ?? [];
  const [, fanX, fanY, value = ""] = /^fan:([12])\.(\d{1,2}):(true|false)$/.exec(act) ?? [];
  try {
    if (scenes.includes(scene)) await play(parts, scene, Number(x));
    else if (fanX && fanY) {
      const name = attributeName(thermostatAttribute(Number(fanX), Number(fanY), "requestWrite"));
      await byClient.setDeviceAttribute(house.deviceId, name, value);
    } else return "The page has no such button.";
    return undefined;
  } catch (error) {
    if (isRefusal(error)) return error.message;
    throw error;
  }
}

async function play({ house, simulator }: ActParts, scene: string, x: number): Promise<void> {
  const name = attributeName(structureAttribute(x, "structureId"));
  const { attributes } = await house.keys.byClient.getDevice(house.deviceId, { attributes: [name] });
  await simulator.playScene(house.accountId, { scene, structure: attributes[name]?.value ?? null });
}

/** Refusals of the service and of the simulator have a status; a defect has none. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && "status" in error;
}
