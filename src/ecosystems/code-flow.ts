import { httpUrl, InvalidSetting } from "../model/setting-checks.ts";

/** The ecosystem's authorization server, and Breezeway's client there. */
export interface CodeFlow {
  readonly authUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const members = ["authUrl", "tokenUrl", "clientId", "clientSecret"] as const;

/** Reads the members of a code flow: all of them, or undefined if there is none. */
export function readCodeFlow(name: string, settings: Readonly<Record<string, unknown>>): CodeFlow | undefined {
  const present = members.filter((member) => settings[member] !== undefined);
  if (present.length === 0) return undefined;
  const wrong = members.find((member) => typeof settings[member] !== "string" || settings[member] === "");
  if (wrong)
    throw new InvalidSetting(`must give ${members.join(", ")} together, as texts; ${wrong} of ${name} is missing`);
  const { authUrl, tokenUrl, clientId, clientSecret } = settings as Record<(typeof members)[number], string>;
  return { authUrl: httpUrl(authUrl), tokenUrl: httpUrl(tokenUrl), clientId, clientSecret };
}
