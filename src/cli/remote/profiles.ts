import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { ConfigurationError } from "../../config/config.ts";
import { BadParameter, NotFound } from "../../model/errors.ts";
import type { ClientSecret } from "./client-token.ts";

/** The stored address and credentials of a service. */
export interface Profile {
  readonly url: string;
  readonly accessToken?: string;
  readonly client?: ClientSecret;
  readonly secToken?: string;
  readonly userName?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The file of all profiles; only its owner can read it. */
export function profilesFile({ XDG_CONFIG_HOME }: Environment): string {
  return join(XDG_CONFIG_HOME || join(homedir(), ".config"), "breezeway", "profiles.json");
}

export function readProfiles(environment: Environment): Readonly<Record<string, Profile>> {
  const file = profilesFile(environment);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new ConfigurationError([`the profiles in ${file} can't be read (${(error as Error).message})`]);
  }
  try {
    return JSON.parse(text) as Record<string, Profile>;
  } catch {
    throw new ConfigurationError([`${file} is not JSON. Remove it, and add the profiles again`]);
  }
}

export function findProfile(environment: Environment, name: string): Profile {
  const profile = Object.entries(readProfiles(environment)).find(([known]) => known === name)?.[1];
  if (!profile) throw new NotFound(`There is no profile ${name}. See all with: breezeway profile list`);
  return profile;
}

export function writeProfiles(environment: Environment, profiles: Readonly<Record<string, Profile>>): void {
  const file = profilesFile(environment);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Replaced atomically, because an incomplete file would lose all profiles.
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  chmodSync(next, 0o600);
  renameSync(next, file);
}

export function checkProfileName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) return name;
  throw new BadParameter("name", "A profile's name must be 1 to 64 letters, digits, dots, dashes or underscores.");
}
