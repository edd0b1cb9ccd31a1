import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { KeptClient } from "../clients/clients.ts";
import type { Cancel, Clock } from "../clock.ts";
import type { KeptAccounts } from "./accounts.ts";
import type { KeptGrant } from "./grants.ts";

/** The persisted state. Its tokens and secrets are valid in the simulator only. */
export interface KeptState extends KeptAccounts {
  readonly tokens: readonly KeptGrant[];
  /** Files of earlier versions have no clients. */
  readonly clients?: readonly KeptClient[];
}

export interface StateSource<Kept = KeptState> {
  readonly kept: Kept;
  /** The number of clients and tokens, whose changes are written at once. */
  readonly urgentCount: number;
}

/** Changes of documents are written at most this often. */
const writeEveryMs = 500;

/** The persisted state; undefined if there is no file yet. */
export function readStateFile<Kept = KeptState>(file: string): Kept | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Kept;
  } catch (error) {
    throw new Error(`The simulator can't read ${file}: ${(error as Error).message}. Delete it to start anew.`);
  }
}

/**
 * Persists a simulator's state in a file. A new or ended token or client is written at once, because it must be
 * valid after a crash. A changed document is written within half a second.
 */
export class StateFile<Kept = KeptState> {
  readonly #file: string;
  readonly #source: StateSource<Kept>;
  readonly #clock: Clock;
  #writtenCount: number;
  #next: Cancel | undefined;

  constructor(file: string, source: StateSource<Kept>, clock: Clock) {
    this.#file = file;
    this.#source = source;
    this.#clock = clock;
    this.#writtenCount = source.urgentCount;
  }

  /** Writes changes, at once or after a delay. */
  save(): void {
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
