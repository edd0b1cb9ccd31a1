import { InvalidSetting } from "../model/setting-checks.ts";
import type { Connector } from "./connector.ts";
import { googleDeviceAccess } from "./google-device-access/protocol.ts";
import { homeAssistant } from "./home-assistant/protocol.ts";
import { simulatedAt } from "./nest/configuration.ts";
import { nest } from "./nest/protocol.ts";
import type { ConnectorParts, EcosystemConfiguration, Protocol, Settings } from "./protocol.ts";

/** Every protocol that Breezeway speaks. A new one is a folder here and an entry in this list. */
export const protocols: readonly Protocol[] = [nest, homeAssistant, googleDeviceAccess];

/** The ecosystem that applies when none is configured; the simulator at this address plays it. */
export const simulatedEcosystemAt: (address: string) => EcosystemConfiguration = simulatedAt;

/** The name of that ecosystem, and an example of its settings on one line. */
export const defaultExample = { name: nest.page.example.name, text: nest.page.shortExample };

/** Reads the settings of one ecosystem, with the reader of its protocol. Throws InvalidSetting. */
export function readEcosystem(name: string, settings: Settings, known = protocols): EcosystemConfiguration {
  const found = known.find(({ protocol }) => protocol === settings.protocol);
  if (found) return found.readConfiguration(name, settings);
  const names = known.map(({ protocol }) => `"${protocol}"`).join(" or ");
  throw new InvalidSetting(`must say "protocol": ${names} for ${name}`);
}

/** Builds the connector of a configured ecosystem. */
export function connectorOf(configuration: EcosystemConfiguration, parts: ConnectorParts): Promise<Connector> {
  return protocolOf(configuration).connector(configuration, parts);
}

/** Whether Google has the device of a thing already. An ecosystem that is no longer configured may have been Google's. */
export function isGoogles(
  configuration: EcosystemConfiguration | undefined,
  thing: { readonly integration?: string | null },
): boolean {
  return configuration === undefined || (protocolOf(configuration).isGoogles?.(thing) ?? false);
}

export function protocolOf({ name, protocol: wanted }: EcosystemConfiguration): Protocol {
  const found = protocols.find(({ protocol }) => protocol === wanted);
  if (!found) throw new Error(`The ecosystem ${name} has the protocol ${wanted}, which is not registered.`);
  return found;
}
