import { availableParallelism } from "node:os";
import { hash, verify } from "@node-rs/argon2";
import { BadParameter, TooManyRequests } from "../model/errors.ts";
import { limits, type ReachLimit } from "../model/limits.ts";
import { FairLine } from "./fair-line.ts";
import { countCharacters, longestName, readText } from "./names.ts";
import { sourceOf } from "./source.ts";

/** argon2id as OWASP advises; the parameters stand in each hash, so that later ones can live beside these. */
const advisedCost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The parameters of argon2id. */
export type PasswordCost = typeof advisedCost;

export const shortestPassword = 8;

export interface Passwords {
  /** Checks a new password and gives the hash to store. */
  hash(password: string): Promise<string>;
  /** One hash run, whether or not there is such a user, so that the time tells nothing. */
  isRight(password: string, storedHash: string | undefined, asker: Asker): Promise<boolean>;
  /** Whether it was hashed with other parameters than a new one would be. */
  isOutdated(storedHash: string): boolean;
  /** A password that was just found right, hashed as a new one; no rule for new ones applies to it. */
  rehash(password: string, asker: Asker): Promise<string>;
}

/** The client on whose behalf a password is hashed. */
export interface Asker {
  /** The address that the request comes from. */
  readonly source: string;
  /** Aborts when the client is gone: a check that has not started leaves the line. */
  readonly gone?: AbortSignal | undefined;
}

/** New passwords come from an administrator's commands. */
const commands: Asker = { source: "command" };

/** One core is left for the event loop, and of libuv's four threads two for files and DNS. */
const hashesAtOnce = Math.min(2, Math.max(1, availableParallelism() - 1));

export interface PasswordOptions {
  readonly cost?: PasswordCost;
  /** Each run takes 19 MiB and a thread of libuv's pool of four, which files and DNS share. */
  readonly atOnce?: number;
  /** Passwords that wait. Beyond it, the source with the most waiting passwords makes room. */
  readonly longestQueue?: number;
  readonly argon2?: { readonly hash: typeof hash; readonly verify: typeof verify };
  /** Counts passwords that found no room in the line. */
  readonly reached?: ReachLimit;
}

export function passwords({
  cost = advisedCost,
  atOnce = hashesAtOnce,
  longestQueue = limits.passwordsWaiting,
  argon2 = { hash, verify },
  reached = () => undefined,
}: PasswordOptions = {}): Passwords {
  const full = () => {
    reached("passwordsWaiting");
    return new TooManyRequests(5, "Too many passwords wait to be checked.");
  };
  const parameters = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`;
  /** What an unknown user's password is compared with: same cost, no password fits. */
  const nobodysHash = `${parameters}${"A".repeat(22)}$${"A".repeat(43)}`;
  const line = new FairLine({ atOnce, longest: longestQueue, full });
  const run = <Result>({ source, gone }: Asker, work: () => Promise<Result>) => line.run(sourceOf(source), work, gone);
  return {
    async hash(password) {
      const checked = checkNewPassword(password);
      return run(commands, () => argon2.hash(checked, cost));
    },
    async isRight(password, storedHash, asker) {
      const typed = readText("password", password);
      const fits = await run(asker, () => argon2.verify(storedHash ?? nobodysHash, typed));
      return fits && storedHash !== undefined;
    },
    isOutdated: (storedHash) => !storedHash.startsWith(parameters),
    rehash: async (password, asker) => {
      const typed = readText("password", password);
      return run(asker, () => argon2.hash(typed, cost));
    },
  };
}

function checkNewPassword(password: string): string {
  const text = readText("password", password);
  const length = countCharacters(text);
  if (length < shortestPassword || length > longestName) {
    throw new BadParameter("password", `A password must have ${shortestPassword} to ${longestName} characters.`);
  }
  return text;
}
