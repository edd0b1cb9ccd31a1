import { availableParallelism } from "node:os";
import { hash, verify } from "@node-rs/argon2";
import { countCharacters } from "../model/attribute-text.ts";
import { BadParameter, TooManyRequests } from "../model/errors.ts";
import { limits, type OnLimitReached } from "../model/limits.ts";
import { FairQueue } from "../runtime/fair-queue.ts";
import { longestName, readText } from "./names.ts";
import { sourceOf } from "./source.ts";

/** argon2id as OWASP recommends. Each hash contains its parameters, so hashes with other parameters stay valid. */
const advisedCost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The parameters of argon2id. */
export type PasswordCost = typeof advisedCost;

const shortestPassword = 8;

export interface Passwords {
  /** Checks a new password and returns the hash to store. Without a caller, a command sets it. */
  hash(password: string, caller?: PasswordCaller): Promise<string>;
  /** Always computes one hash, also for an unknown user, so that the time reveals nothing. */
  isRight(password: string, storedHash: string | undefined, caller: PasswordCaller): Promise<boolean>;
  /** Whether the hash has other parameters than a new hash would have. */
  isOutdated(storedHash: string): boolean;
  /** Hashes a password that was just verified, with the present parameters. The rules for new passwords don't apply. */
  rehash(password: string, caller: PasswordCaller): Promise<string>;
}

/** The client on whose behalf a password is hashed. */
export interface PasswordCaller {
  /** The address that the request comes from. */
  readonly source: string;
  /** Aborts when the client disconnects: a check that has not started leaves the queue. */
  readonly disconnected?: AbortSignal | undefined;
}

/** New passwords are set by an administrator's commands. */
const commands: PasswordCaller = { source: "command" };

/** Leaves one core for the event loop, and two of libuv's four threads for files and DNS. */
const hashesAtOnce = Math.min(2, Math.max(1, availableParallelism() - 1));

export interface PasswordOptions {
  readonly cost?: PasswordCost;
  /** Concurrent hashes. Each takes 19 MiB and one of libuv's four threads. */
  readonly atOnce?: number;
  /** How many passwords may wait. Beyond it, the source with the most waiting passwords loses its newest. */
  readonly longestQueue?: number;
  readonly argon2?: { readonly hash: typeof hash; readonly verify: typeof verify };
  /** Called for passwords that were refused because the queue was full. */
  readonly onLimitReached?: OnLimitReached;
}

export function passwords({
  cost = advisedCost,
  atOnce = hashesAtOnce,
  longestQueue = limits.passwordsWaiting,
  argon2 = { hash, verify },
  onLimitReached = () => undefined,
}: PasswordOptions = {}): Passwords {
  const fullError = () => {
    onLimitReached("passwordsWaiting");
    return new TooManyRequests(5, "Too many passwords wait to be checked.");
  };
  const parameters = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`;
  /** Compared with an unknown user's password: it has the same cost, and no password matches it. */
  const dummyHash = `${parameters}${"A".repeat(22)}$${"A".repeat(43)}`;
  const queue = new FairQueue({ atOnce, mostWaiting: longestQueue, fullError });
  const run = <Result>({ source, disconnected }: PasswordCaller, work: () => Promise<Result>) =>
    queue.run(sourceOf(source), work, disconnected);
  return {
    async hash(password, caller = commands) {
      const checked = checkNewPassword(password);
      return run(caller, () => argon2.hash(checked, cost));
    },
    async isRight(password, storedHash, caller) {
      const typed = readText("password", password);
      const fits = await run(caller, () => argon2.verify(storedHash ?? dummyHash, typed));
      return fits && storedHash !== undefined;
    },
    isOutdated: (storedHash) => !storedHash.startsWith(parameters),
    rehash: async (password, caller) => {
      const typed = readText("password", password);
      return run(caller, () => argon2.hash(typed, cost));
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
