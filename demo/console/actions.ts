import type { Simulator } from "../../simulator/simulator.ts";
import { attributeName, structureAttribute, thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import type { House } from "../house.ts";

export interface ActionParts {
  readonly house: House;
  readonly simulator: Simulator;
}

const scenes = ["leave", "come-home", "smoke", "clear"];

/**
 * Executes a button of the page: plays a scene in the simulator, or writes a fan request through /v3. Returns the
 * message of a refusal, undefined on success.
 */
export async function executeAction(parts: ActionParts, action: string): Promise<string | undefined> {
  const { house, simulator } = parts;
  simulator.pauseLife(house.accountId);
  const [, scene = "", x = ""] = /^([a-z-]+):([12])$/.exec(action) ?? [];
  const [, fanX, fanY, value = ""] = /^fan:([12])\.(\d{1,2}):(true|false)$/.exec(action) ?? [];
  try {
    if (scenes.includes(scene)) await playScene(parts, scene, Number(x));
    else if (fanX && fanY) {
      const name = attributeName(thermostatAttribute(Number(fanX), Number(fanY), "requestWrite"));
      await house.keys.byClient.setDeviceAttribute(house.deviceId, name, value);
    } else return "The page has no such button.";
    return undefined;
  } catch (error) {
    if (isRefusal(error)) return error.message;
    throw error;
  }
}

async function playScene({ house, simulator }: ActionParts, scene: string, x: number): Promise<void> {
  const name = attributeName(structureAttribute(x, "structureId"));
  const { attributes } = await house.keys.byClient.getDevice(house.deviceId, { attributes: [name] });
  await simulator.playScene(house.accountId, { scene, structure: attributes[name]?.value ?? null });
}

/** Errors of the service and of the simulator have an HTTP status; a programming error has none. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && "status" in error;
}
