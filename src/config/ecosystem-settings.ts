import type { EcosystemConfiguration, Settings } from "../ecosystems/protocol.ts";
import { readEcosystem, simulatedEcosystemAt } from "../ecosystems/registry.ts";
import { InvalidSetting } from "../model/setting-checks.ts";
import { fileText } from "./setting-values.ts";
import { fromDefault, type ShownSetting } from "./shown-setting.ts";

const simulatorUrl = "http://127.0.0.1:8090";
const variable = "BREEZEWAY_ECOSYSTEMS";

/** Reads the ecosystems from JSON or from the file of it. The registry reads each of them. */
export function readEcosystems(text: string | undefined): readonly EcosystemConfiguration[] {
  if (text === undefined) return [simulatedEcosystemAt(simulatorUrl)];
  const isFile = !text.trimStart().startsWith("{");
  const parsed = object(parseJson(isFile ? fileText(text) : text), "must be a JSON object, name → ecosystem");
  return Object.entries(parsed).map(([name, value]) =>
    readEcosystem(name, object(value, `must hold an object for ${name}`)),
  );
}

/**
 * The ecosystems without their OAuth clients, for a public service that has the simulator by default. The secret of the
 * simulator's client is public, and its link pages are at 127.0.0.1: the browser of a user would open that address on the
 * user's own machine.
 */
export function withoutClients(ecosystems: readonly EcosystemConfiguration[]): readonly EcosystemConfiguration[] {
  return ecosystems.map(({ consent: _, ...others }) => others);
}

/** Whether the operator of a public service has set no ecosystem, so that it has the default: the simulator's address. */
export function lacksEcosystems(settings: readonly ShownSetting[], hasLinkPages: boolean): boolean {
  return !hasLinkPages && settings.some((one) => one.variable === variable && one.from === fromDefault);
}

export const lackOfEcosystems = {
  sentence: `Only the simulator's address is configured, ${simulatorUrl}: users can't link homes on pages, and a token that a client links a home with is sent to that address.`,
  fix: `Set ${variable} (docs/configuration.md#ecosystems), or set it to {} if users link no homes.`,
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidSetting(`is not JSON: ${(error as Error).message}`);
  }
}

function object(value: unknown, problem: string): Settings {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new InvalidSetting(problem);
  return value as Settings;
}
