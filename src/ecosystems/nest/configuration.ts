import { httpUrl, InvalidSetting } from "../../model/setting-checks.ts";
import { type CodeFlow, readCodeFlow } from "../code-flow.ts";
import type { EcosystemConfiguration, Settings } from "../protocol.ts";

export interface NestConfiguration extends EcosystemConfiguration {
  readonly apiUrl: string;
  /** `host` or `host:port`: the only hosts to which a redirect may take the token. */
  readonly allowedHosts: readonly string[];
}

export const protocol = "nest";

export function readConfiguration(name: string, settings: Settings): NestConfiguration {
  if (typeof settings.apiUrl !== "string") throw new InvalidSetting(`must give an address as apiUrl of ${name}`);
  const apiUrl = httpUrl(settings.apiUrl);
  const allowedHosts = settings.allowedHosts ?? [new URL(apiUrl).host];
  if (!Array.isArray(allowedHosts) || !allowedHosts.every((host) => typeof host === "string")) {
    throw new InvalidSetting(`must give a list of "host" or "host:port" as allowedHosts of ${name}`);
  }
  const consent = readCodeFlow(name, settings);
  return { name: name.toLowerCase(), protocol, apiUrl, allowedHosts, ...(consent && { consent }) };
}

/** The settings when no ecosystem is configured: the simulator at this address plays it. */
export function simulatedAt(apiUrl: string): NestConfiguration {
  return { name: "nest", protocol, apiUrl, allowedHosts: [new URL(apiUrl).host], consent: simulatorFlow(apiUrl) };
}

/** The OAuth client that every simulator has (simulator/clients). Its secret is public. */
function simulatorFlow(url: string): CodeFlow {
  return {
    authUrl: `${url}/login/oauth2`,
    tokenUrl: `${url}/oauth2/access_token`,
    clientId: "hearth-hollow-first-steps",
    clientSecret: "first-steps-need-no-secret",
  };
}
