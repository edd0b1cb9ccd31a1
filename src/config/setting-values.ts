import { readFileSync } from "node:fs";

/** What is wrong with one setting, as the end of a sentence that begins with its name. */
export class Complaint extends Error {}

export interface EcosystemConfig {
  readonly name: string;
  readonly protocol: "nest";
  readonly apiUrl: string;
  readonly allowedHosts: readonly string[];
  /** How a user's consent is asked for; undefined when only others do that. */
  readonly consent?: ConsentConfig;
}

/** The ecosystem's authorization server, and who we are there. */
export interface ConsentConfig {
  readonly authUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const simulatorUrl = "http://127.0.0.1:8090";

/** The ecosystem that a simulator stands in for. */
export function simulatorAt(apiUrl: string): readonly EcosystemConfig[] {
  const allowedHosts = [new URL(apiUrl).host];
  return [{ name: "nest", protocol: "nest", apiUrl, allowedHosts, consent: simulatorConsent(apiUrl) }];
}

export function readEcosystems(text: string | undefined): readonly EcosystemConfig[] {
  if (text === undefined) return simulatorAt(simulatorUrl);
  const isFile = !text.trimStart().startsWith("{");
  const parsed = object(parseJson(isFile ? fileText(text) : text), "must be a JSON object, name → ecosystem");
  return Object.entries(parsed).map(([name, value]) => {
    const one = object(value, `must hold an object for ${name}`);
    if (one.protocol !== "nest") throw new Complaint(`must say "protocol": "nest" for ${name}`);
    if (typeof one.apiUrl !== "string") throw new Complaint(`must give an address as apiUrl of ${name}`);
    const apiUrl = httpUrl(one.apiUrl);
    const allowedHosts = one.allowedHosts ?? [new URL(apiUrl).host];
    if (!Array.isArray(allowedHosts) || !allowedHosts.every((host) => typeof host === "string")) {
      throw new Complaint(`must give a list of "host:port" as allowedHosts of ${name}`);
    }
    const consent = readConsent(name, one);
    return { name: name.toLowerCase(), protocol: one.protocol, apiUrl, allowedHosts, ...(consent && { consent }) };
  });
}

/** The client that every simulator knows, which is no secret. */
export function simulatorConsent(url: string): ConsentConfig {
  return {
    authUrl: `${url}/login/oauth2`,
    tokenUrl: `${url}/oauth2/access_token`,
    clientId: "hearth-hollow-first-steps",
    clientSecret: "first-steps-need-no-secret",
  };
}

function readConsent(name: string, one: Record<string, unknown>): ConsentConfig | undefined {
  const members = ["authUrl", "tokenUrl", "clientId", "clientSecret"] as const;
  const given = members.filter((member) => one[member] !== undefined);
  if (given.length === 0) return undefined;
  const wrong = members.find((member) => typeof one[member] !== "string" || one[member] === "");
  if (wrong) throw new Complaint(`must give ${members.join(", ")} together, as texts; ${wrong} of ${name} is missing`);
  const { authUrl, tokenUrl, clientId, clientSecret } = one as Record<(typeof members)[number], string>;
  return { authUrl: httpUrl(authUrl), tokenUrl: httpUrl(tokenUrl), clientId, clientSecret };
}

export function wholeNumber(text: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least && number <= most)) throw new Complaint(`must be a number from ${least} to ${most}`);
  return number;
}

export function httpUrl(text: string): string {
  if (!URL.canParse(text)) throw new Complaint(`is "${text}", which is no address`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new Complaint("must begin with http:// or https://");
  if (url.username || url.password || /[?#]/.test(text)) throw new Complaint("must have no user, query or fragment");
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
    throw new Complaint(`names a file that can't be read (${(error as Error).message})`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Complaint(`is not JSON: ${(error as Error).message}`);
  }
}

function object(value: unknown, complaint: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Complaint(complaint);
  return value as Record<string, unknown>;
}
