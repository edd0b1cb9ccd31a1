import { readFileSync } from "node:fs";

/** An invalid value of a setting. The message is the end of a sentence that begins with the setting's name. */
export class InvalidSetting extends Error {}

export interface EcosystemConfig {
  readonly name: string;
  readonly protocol: "nest";
  readonly apiUrl: string;
  readonly allowedHosts: readonly string[];
  /** How to ask a user for consent; undefined when Breezeway itself never asks. */
  readonly consent?: ConsentConfig;
}

/** The ecosystem's authorization server, and Breezeway's client there. */
export interface ConsentConfig {
  readonly authUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const simulatorUrl = "http://127.0.0.1:8090";

/** The configuration of an ecosystem that the simulator at this address replaces. */
export function simulatorAt(apiUrl: string): readonly EcosystemConfig[] {
  const allowedHosts = [new URL(apiUrl).host];
  return [{ name: "nest", protocol: "nest", apiUrl, allowedHosts, consent: simulatorConsent(apiUrl) }];
}

export function readEcosystems(text: string | undefined): readonly EcosystemConfig[] {
  if (text === undefined) return simulatorAt(simulatorUrl);
  const isFile = !text.trimStart().startsWith("{");
  const parsed = object(parseJson(isFile ? fileText(text) : text), "must be a JSON object, name → ecosystem");
  return Object.entries(parsed).map(([name, value]) => {
    const ecosystem = object(value, `must hold an object for ${name}`);
    if (ecosystem.protocol !== "nest") throw new InvalidSetting(`must say "protocol": "nest" for ${name}`);
    if (typeof ecosystem.apiUrl !== "string") throw new InvalidSetting(`must give an address as apiUrl of ${name}`);
    const apiUrl = httpUrl(ecosystem.apiUrl);
    const allowedHosts = ecosystem.allowedHosts ?? [new URL(apiUrl).host];
    if (!Array.isArray(allowedHosts) || !allowedHosts.every((host) => typeof host === "string")) {
      throw new InvalidSetting(`must give a list of "host:port" as allowedHosts of ${name}`);
    }
    const consent = readConsent(name, ecosystem);
    const { protocol } = ecosystem;
    return { name: name.toLowerCase(), protocol, apiUrl, allowedHosts, ...(consent && { consent }) };
  });
}

/** The client that every simulator knows. Its secret is public. */
export function simulatorConsent(url: string): ConsentConfig {
  return {
    authUrl: `${url}/login/oauth2`,
    tokenUrl: `${url}/oauth2/access_token`,
    clientId: "hearth-hollow-first-steps",
    clientSecret: "first-steps-need-no-secret",
  };
}

function readConsent(name: string, ecosystem: Record<string, unknown>): ConsentConfig | undefined {
  const members = ["authUrl", "tokenUrl", "clientId", "clientSecret"] as const;
  const present = members.filter((member) => ecosystem[member] !== undefined);
  if (present.length === 0) return undefined;
  const wrong = members.find((member) => typeof ecosystem[member] !== "string" || ecosystem[member] === "");
  if (wrong)
    throw new InvalidSetting(`must give ${members.join(", ")} together, as texts; ${wrong} of ${name} is missing`);
  const { authUrl, tokenUrl, clientId, clientSecret } = ecosystem as Record<(typeof members)[number], string>;
  return { authUrl: httpUrl(authUrl), tokenUrl: httpUrl(tokenUrl), clientId, clientSecret };
}

export function wholeNumber(text: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least && number <= most)) throw new InvalidSetting(`must be a number from ${least} to ${most}`);
  return number;
}

export function httpUrl(text: string): string {
  if (!URL.canParse(text)) throw new InvalidSetting(`is "${text}", which is not an address`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new InvalidSetting("must begin with http:// or https://");
  if (url.username || url.password || /[?#]/.test(text))
    throw new InvalidSetting("must have no user, query or fragment");
  return text.replace(/\/+$/, "");
}

export function list(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

export function fileText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new InvalidSetting(`names a file that can't be read (${(error as Error).message})`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidSetting(`is not JSON: ${(error as Error).message}`);
  }
}

function object(value: unknown, problem: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new InvalidSetting(problem);
  return value as Record<string, unknown>;
}
