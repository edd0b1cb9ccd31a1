import type { EcosystemConfiguration, Settings } from "../ecosystems/protocol.ts";
import { readEcosystem, simulatedEcosystemAt } from "../ecosystems/registry.ts";
import { InvalidSetting } from "../model/setting-checks.ts";
import { fileText } from "./setting-values.ts";

const simulatorUrl = "http://127.0.0.1:8090";

/** Reads the ecosystems from JSON or from the file of it. The registry reads each of them. */
export function readEcosystems(text: string | undefined): readonly EcosystemConfiguration[] {
  if (text === undefined) return [simulatedEcosystemAt(simulatorUrl)];
  const isFile = !text.trimStart().startsWith("{");
  const parsed = object(parseJson(isFile ? fileText(text) : text), "must be a JSON object, name → ecosystem");
  return Object.entries(parsed).map(([name, value]) =>
    readEcosystem(name, object(value, `must hold an object for ${name}`)),
  );
}

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
