import type { Breezeway, ThermostatMode } from "../../sdk/src/index.ts";
import type { Simulator } from "../../simulator/simulator.ts";
import type { House } from "../house.ts";

export interface ActionParts {
  readonly house: House;
  readonly simulator: Simulator;
}

const scenes = ["leave", "come-home", "smoke", "clear"];
const stepCelsius = 0.5;
/** The receipt on the page shows the outcome. */
const atOnce = { waitMs: 0 };

/**
 * Executes a button of the page: plays a scene in the simulator, or sends a command to a thing through /v3. Returns the
 * message of a refusal, undefined on success. A receipt is a success, also that of a rejected command.
 */
export async function executeAction(parts: ActionParts, action: string): Promise<string | undefined> {
  const { house, simulator } = parts;
  simulator.pauseLife(house.accountId);
  const [, name = "", thingId = ""] = /^([A-Za-z-]+):(t_[\w-]+)$/.exec(action) ?? [];
  try {
    if (scenes.includes(name)) return await playScene(parts, name, thingId);
    const command = commandOf(house.keys.byClient, name, thingId);
    if (command === undefined) return "The page has no such button.";
    await command();
    return undefined;
  } catch (error) {
    if (isRefusal(error)) return error.message;
    throw error;
  }
}

function commandOf(client: Breezeway, name: string, thingId: string): (() => Promise<unknown>) | undefined {
  const adjust = (deltaCelsius: number) => () =>
    client.command(thingId, "thermostat", "adjustTarget", { deltaCelsius }, atOnce);
  switch (name) {
    case "run-fan":
      return () => client.command(thingId, "fanTimer", "start", {}, atOnce);
    case "stop-fan":
      return () => client.command(thingId, "fanTimer", "stop", {}, atOnce);
    case "warmer":
      return adjust(stepCelsius);
    case "cooler":
      return adjust(-stepCelsius);
  }
  const [, mode] = /^mode-(\w+)$/.exec(name) ?? [];
  // The service checks the mode.
  return mode === undefined
    ? undefined
    : () => client.command(thingId, "thermostat", "setMode", { mode: mode as ThermostatMode }, atOnce);
}

/** The simulator does not know ids of things: the home is found by its name. */
async function playScene(
  { house, simulator }: ActionParts,
  scene: string,
  thingId: string,
): Promise<string | undefined> {
  const { name } = await house.keys.byClient.thing(thingId);
  const { structures = {} } = simulator.document(house.accountId);
  const found = Object.entries(structures as Readonly<Record<string, { readonly name?: unknown }>>).find(
    ([, structure]) => structure.name === name,
  );
  if (found === undefined)
    return `The simulator has no home named ${name}. The page shows its homes after the next update.`;
  await simulator.playScene(house.accountId, { scene, structure: found[0] });
  return undefined;
}

/** Errors of the service and of the simulator have an HTTP status; a programming error has none. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && "status" in error;
}
