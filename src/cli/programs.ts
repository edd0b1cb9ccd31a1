import type { Config } from "../config/config.ts";
import type { Input } from "./input.ts";
import type { Tell } from "./terminal/progress.ts";

/** A sentence for the person who typed the command, while it goes on. */
export type Say = (sentence: string) => void;

/** What the demo does otherwise than `serve`, depending on what was given. */
export interface DemoChoice {
  readonly seed?: string;
  /** The demo always uses its own simulator, and says so when ecosystems are configured. */
  readonly hasEcosystems: boolean;
  /** The demo logs less than the service does by default. */
  readonly hasLogLevel: boolean;
}

/** What the command line can start or reach; main.ts knows how. */
export interface Programs {
  /** Each resolves when it has ended. */
  serve(config: Config): Promise<void>;
  demo(config: Config, options: DemoChoice): Promise<void>;
  simulator(address: { readonly host: string; readonly port: number }): Promise<void>;
  /** Runs an administrator's command, in the running service or on the store itself. */
  administer(config: Config, command: string, input: object, tell?: Tell, say?: Say): Promise<object>;
  /** Lets the command line in at the running service, as administrators come in. */
  access(config: Config, wanted: Input, say?: Say): Promise<Access>;
  /** Brings a backup to the configured folder, wholly or not at all. */
  restore(config: Config, from: string): Promise<Restored>;
  /** Copies the configured folder's store, or a backup, to the configured PostgreSQL, wholly or not at all. */
  migrate(config: Config, from: string | undefined, tell: Tell): Promise<Moved>;
  /** What can be seen of a store from outside, without changing it. */
  inspect(config: Config): Promise<Inspection>;
}

/** What the service gives to a command that comes through the control socket: good for a while, and for one tenant. */
export interface Access {
  readonly baseUrl: string;
  readonly accessToken: string;
  /** Only when it was asked for, to act for one user at the adaptor. */
  readonly secToken?: string;
  readonly userId?: number;
}

export interface Inspection {
  /** Whether a service holds the folder's lock. */
  readonly isRunning: boolean;
  /** Where that service listens; undefined while it starts or stops. */
  readonly listensAt?: string | undefined;
  readonly keyFile: string;
  readonly keyProblem?: string | undefined;
  /** Undefined: there is no store yet. */
  readonly schemaVersion?: number | undefined;
  /** The oldest that can live with it, when that was said. */
  readonly oldestVersion?: number | undefined;
  readonly knownVersion: number;
  readonly databaseProblem?: string | undefined;
  /** How far the store's clock is ahead of this machine's; zero where they are one. */
  readonly clockOffsetMs: number;
}

/** What a restored folder holds. */
export interface Restored {
  readonly folder: string;
  readonly keyFile: string;
  readonly isKeyFromBackup: boolean;
  readonly version: string;
  readonly schema: number;
  readonly time: string;
}

/** What stands in PostgreSQL now, and was compared with what stood in SQLite. */
export interface Moved {
  readonly from: string;
  readonly keyFile: string;
  readonly schema: number;
  readonly rows: number;
  readonly tables: readonly { readonly table: string; readonly rows: number; readonly sha256: string }[];
}
