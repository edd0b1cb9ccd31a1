import { hash, verify } from "@node-rs/argon2";
import { BadParameter, TooManyRequests } from "../model/errors.ts";
import { countCharacters, longestName, readText } from "./names.ts";

/** argon2id as OWASP advises; the parameters stand in each hash, so that later ones can live beside these. */
const cost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const parameters = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`;

/** What an unknown user's password is compared with: same cost, no password fits. */
const nobodysHash = `${parameters}${"A".repeat(22)}$${"A".repeat(43)}`;

export const shortestPassword = 8;

export interface Passwords {
  /** Checks a new password and gives the hash to store. */
  hash(password: string): Promise<string>;
  /** One hash run, whether or not there is such a user, so that the time tells nothing. */
  isRight(password: string, storedHash: string | undefined): Promise<boolean>;
  /** Whether it was hashed with other parameters than a new one would be. */
  isOutdated(storedHash: string): boolean;
  /** A password that was just found right, hashed as a new one; no rule for new ones applies to it. */
  rehash(password: string): Promise<string>;
}

export interface PasswordOptions {
  /** Each run takes 19 MiB and a thread of libuv's pool of four, which files and DNS share. */
  readonly atOnce?: number;
  /** Beyond these a flood would only make everybody wait. */
  readonly longestQueue?: number;
  readonly argon2?: { readonly hash: typeof hash; readonly verify: typeof verify };
}

export function passwords({
  atOnce = 2,
  longestQueue = 1_000,
  argon2 = { hash, verify },
}: PasswordOptions = {}): Passwords {
  const queue = new HashQueue(atOnce, longestQueue);
  return {
    async hash(password) {
      const checked = checkNewPassword(password);
      return queue.run(() => argon2.hash(checked, cost));
    },
    async isRight(password, storedHash) {
      const typed = readText("password", password);
      const fits = await queue.run(() => argon2.verify(storedHash ?? nobodysHash, typed));
      return fits && storedHash !== undefined;
    },
    isOutdated: (storedHash) => !storedHash.startsWith(parameters),
    rehash: (password) => queue.run(() => argon2.hash(readText("password", password), cost)),
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

/** Runs a few at once, the rest in the order in which they came. */
class HashQueue {
  readonly #atOnce: number;
  readonly #longest: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(atOnce: number, longest: number) {
    this.#atOnce = atOnce;
    this.#longest = longest;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#atOnce) this.#running++;
    else await this.#place();
    try {
      return await work();
    } finally {
      // The place is passed on rather than given back, so that nobody can slip in between.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }

  #place(): Promise<void> {
    if (this.#waiting.length >= this.#longest) throw new TooManyRequests(5);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
