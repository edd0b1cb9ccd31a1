import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { KeptClient } from "../clients/clients.ts";
import type { Cancel, Clock } from "../clock.ts";
import type { KeptAccounts } from "./accounts.ts";
import type { KeptGrant } from "./grants.ts";

/** All that outlives the process. Tokens and secrets are the simulator's own. */
export interface KeptState extends KeptAccounts {
  readonly tokens: readonly KeptGrant[];
  /** Files of earlier versions know no clients. */
  readonly clients?: readonly KeptClient[];
}

/** What the file is written from. */
export interface StateSource {
  readonly kept: KeptState;
  /** Counts what must be in the file at once: clients and tokens. */
  readonly urgentCount: number;
}

/** Documents change all the time; they are written down at most this often. */
const writeEveryMs = 500;

/** What was written down last; undefined when there is nothing yet. */
export function readStateFile(file: string): KeptState | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as KeptState;
  } catch (error) {
    throw new Error(`The simulator can't read ${file}: ${(error as Error).message}. Delete it to start anew.`);
  }
}

/**
 * Keeps all accounts and clients in a file, so that a simulated house outlives its process as a real one does. A new or ended token
 * or client is there at once: whoever was given one must find it valid after a crash. A change may be half a second late.
 */
export class StateFile {
  readonly #file: string;
  readonly #source: StateSource;
  readonly #clock: Clock;
  #writtenCount: number;
  #next: Cancel | undefined;

  constructor(file: string, source: StateSource, clock: Clock) {
    this.#file = file;
    this.#source = source;
    this.#clock = clock;
    this.#writtenCount = source.urgentCount;
  }

  /** Something may have changed. */
  touch(): void {
    if (this.#source.urgentCount !== this.#writtenCount) this.write();
    else this.#next ??= this.#clock.after(writeEveryMs, () => this.write());
  }

  write(): void {
    this.#next?.();
    this.#next = undefined;
    this.#writtenCount = this.#source.urgentCount;
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    const draft = `${this.#file}.draft`;
    writeFileSync(draft, JSON.stringify(this.#source.kept), { mode: 0o600 });
    renameSync(draft, this.#file);
  }
}
