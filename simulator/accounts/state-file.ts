import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Cancel, Clock } from "../clock.ts";
import type { Accounts, KeptAccounts } from "./accounts.ts";

/** Documents change all the time; they are written down at most this often. */
const writeEveryMs = 500;

/** What was written down last; undefined when there is nothing yet. */
export function readStateFile(file: string): KeptAccounts | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as KeptAccounts;
  } catch (error) {
    throw new Error(`The simulator can't read ${file}: ${(error as Error).message}. Delete it to start anew.`);
  }
}

/**
 * Keeps all accounts in a file, so that a simulated house outlives its process as a real one does. A new or ended token
 * is there at once: whoever was given one must find it valid after a crash. A change may be half a second late.
 */
export class StateFile {
  readonly #file: string;
  readonly #accounts: Accounts;
  readonly #clock: Clock;
  #writtenTokens: number;
  #next: Cancel | undefined;

  constructor(file: string, accounts: Accounts, clock: Clock) {
    this.#file = file;
    this.#accounts = accounts;
    this.#clock = clock;
    this.#writtenTokens = accounts.tokenCount;
  }

  /** Something may have changed. */
  touch(): void {
    if (this.#accounts.tokenCount !== this.#writtenTokens) this.write();
    else this.#next ??= this.#clock.after(writeEveryMs, () => this.write());
  }

  write(): void {
    this.#next?.();
    this.#next = undefined;
    this.#writtenTokens = this.#accounts.tokenCount;
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    const draft = `${this.#file}.draft`;
    writeFileSync(draft, JSON.stringify(this.#accounts.kept), { mode: 0o600 });
    renameSync(draft, this.#file);
  }
}
