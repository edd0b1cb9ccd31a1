import { InvalidSetting } from "../../model/setting-checks.ts";
import type { EcosystemConfiguration, Settings } from "../protocol.ts";

export interface HomeAssistantConfiguration extends EcosystemConfiguration {
  /** Accounts may be in private networks, and without TLS. */
  readonly allowPrivateNetworks: boolean;
}

export const protocol = "home-assistant";

export function readConfiguration(name: string, settings: Settings): HomeAssistantConfiguration {
  const { allowPrivateNetworks = false } = settings;
  if (typeof allowPrivateNetworks !== "boolean") {
    throw new InvalidSetting(`must give true or false as allowPrivateNetworks of ${name}`);
  }
  return { name: name.toLowerCase(), protocol, allowPrivateNetworks };
}
