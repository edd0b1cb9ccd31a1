import type { Breezeway, ThermostatMode } from "../../sdk/src/index.ts";
import type { DemoEcosystem } from "../ecosystems/ecosystem.ts";
import type { House } from "../house.ts";

export interface ActionParts {
  readonly house: House;
  readonly ecosystem: DemoEcosystem;
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
  const { house, ecosystem } = parts;
  ecosystem.pauseLife();
  const [, name = "", thingId = ""] = /^([A-Za-z0-9-]+):(t_[\w-]+)$/.exec(action) ?? [];
  try {
    if (scenes.includes(name)) {
      return await ecosystem.playScene(name, (await house.access.byClient.thing(thingId)).name);
    }
    const command = commandOf(house.access.byClient, name, thingId);
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
    case "on":
    case "off":
      return () => client.command(thingId, "onOff", "set", { on: name === "on" }, atOnce);
    case "warmer":
      return adjust(stepCelsius);
    case "cooler":
      return adjust(-stepCelsius);
  }
  const [, kind, value = ""] = /^(mode|fan|bright|speed)-(\w+)$/.exec(name) ?? [];
  // The service checks the values.
  switch (kind) {
    case "mode":
      return () => client.command(thingId, "thermostat", "setMode", { mode: value as ThermostatMode }, atOnce);
    case "fan":
      return () => client.command(thingId, "fan", "setMode", { mode: value }, atOnce);
    case "bright":
      return () => client.command(thingId, "brightness", "set", { percent: Number(value) }, atOnce);
    case "speed":
      return () => client.command(thingId, "fan", "setPercent", { percent: Number(value) }, atOnce);
  }
  return undefined;
}

/** Errors of the service and of the simulator have an HTTP status; a programming error has none. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && "status" in error;
}
