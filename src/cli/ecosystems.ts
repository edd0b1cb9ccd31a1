import { type Config, type ConfigSources, isSet, settings } from "../config/config.ts";
import { simulatorAt } from "../config/setting-values.ts";
import { demoSimulator } from "./demo-simulator.ts";

/** The ecosystems of the settings. Without a setting, the demo's simulator: it may listen on another port than usual. */
export function ecosystemsOf({ ecosystems, dataFolder }: Config, sources: ConfigSources): Config["ecosystems"] {
  const simulator = isSet(settings.ecosystems, sources) ? undefined : demoSimulator(dataFolder);
  return simulator === undefined ? ecosystems : simulatorAt(simulator);
}
