import { type Config, type ConfigSources, isSet, readSetting, settings } from "../config/config.ts";
import { simulatedEcosystemAt } from "../ecosystems/registry.ts";
import { BadParameter } from "../model/errors.ts";
import type { Call } from "./command.ts";
import { demoSimulator } from "./demo-simulator.ts";
import { optional } from "./input.ts";

/** The configured ecosystems; without a setting, the demo's simulator, which may listen on another port than usual. */
export function ecosystemsOf({ ecosystems, dataFolder }: Config, sources: ConfigSources): Config["ecosystems"] {
  const simulator = isSet(settings.ecosystems, sources) ? undefined : demoSimulator(dataFolder);
  return simulator === undefined ? ecosystems : [simulatedEcosystemAt(simulator)];
}

/**
 * The ecosystem that `--ecosystem` names, or else the only configured one. Only this setting is read: the command may
 * call a service elsewhere, and the other settings here do not concern it.
 */
export function ecosystemName({ typed, sources }: Pick<Call, "typed" | "sources">): string {
  const named = optional(typed, "ecosystem");
  if (named !== undefined) return named;
  const [only, ...others] = readSetting(settings.ecosystems, sources).map(({ name }) => name);
  if (only !== undefined && others.length === 0) return only;
  const why =
    only === undefined
      ? "BREEZEWAY_ECOSYSTEMS has no ecosystem. Name one"
      : `BREEZEWAY_ECOSYSTEMS has several ecosystems. Name one of ${[only, ...others].join(", ")}`;
  throw new BadParameter("ecosystem", `--ecosystem is missing, and ${why}.`);
}
