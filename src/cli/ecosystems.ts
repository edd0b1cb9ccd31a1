import { type Config, type ConfigSources, isSet, settings } from "../config/config.ts";
import { simulatorAt } from "../config/setting-values.ts";
import { demoSimulator } from "./demo-simulator.ts";

/** The configured ecosystems; without a setting, the demo's simulator, which may listen on another port than usual. */
export function ecosystemsOf({ ecosystems, dataFolder }: Config, sources: ConfigSources): Config["ecosystems"] {
  const simulator = isSet(settings.ecosystems, sources) ? undefined : demoSimulator(dataFolder);
  return simulator === undefined ? ecosystems : simulatorAt(simulator);
}
