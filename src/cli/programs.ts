import type { Config } from "../config/config.ts";
import type { ShownSetting } from "../config/shown-settings.ts";
import type { Input } from "./input.ts";
import type { ReportProgress } from "./terminal/progress.ts";

/** Prints a sentence for the user while the command runs. */
export type Say = (sentence: string) => void;

/** How the demo's settings differ from those of `serve`. */
export interface DemoChoice {
  readonly seed?: string;
  /** The protocol of the simulated house. */
  readonly ecosystem?: string;
  /** The demo always uses its own simulator; it says so when ecosystems are configured. */
  readonly hasEcosystems: boolean;
  /** Without a data folder, the demo derives one from the ecosystem. */
  readonly hasDataFolder: boolean;
  /** The demo logs less than the service does by default. */
  readonly hasLogLevel: boolean;
  /** The settings of the command line and the environment, which the console shows. */
  readonly settings: readonly ShownSetting[];
}

/** What the command line can start or reach; main.ts implements it. */
export interface EntryPoints {
  /** Each of these resolves when the program has ended. */
  serve(config: Config, settings: readonly ShownSetting[]): Promise<void>;
  demo(config: Config, options: DemoChoice): Promise<void>;
  simulator(address: { readonly host: string; readonly port: number }): Promise<void>;
  /** Runs an administrator's command, in the running service or on the store itself. */
  administer(config: Config, command: string, input: object, onProgress?: ReportProgress, say?: Say): Promise<object>;
  /** Gets access to the running service for a command, with the rights of an administrator. */
  access(config: Config, request: Input, say?: Say): Promise<CommandCredentials>;
  /** Restores a backup to the configured folder, completely or not at all. */
  restore(config: Config, from: string): Promise<Restored>;
  /** Copies the configured folder's store, or a backup, to the configured PostgreSQL, completely or not at all. */
  migrate(config: Config, from: string | undefined, onProgress: ReportProgress): Promise<Moved>;
  /** Examines a store without changing it. */
  inspect(config: Config): Promise<Inspection>;
}

/** The access of a command: an address and a token for one tenant, valid for a limited time. */
export interface CommandCredentials {
  readonly baseUrl: string;
  readonly accessToken: string;
  /** Only on request, for acting for one user at the adaptor. */
  readonly secToken?: string;
  readonly userId?: number;
}

export interface Inspection {
  /** Whether a service holds the folder's lock. */
  readonly isRunning: boolean;
  /** The address of that service; undefined while it starts or stops. */
  readonly listensAt?: string | undefined;
  readonly keyFile: string;
  readonly keyProblem?: string | undefined;
  /** Undefined when there is no store yet. */
  readonly schemaVersion?: number | undefined;
  /** The oldest version that is compatible with the store, if it was recorded. */
  readonly oldestVersion?: number | undefined;
  readonly knownVersion: number;
  readonly databaseProblem?: string | undefined;
  /** How far the store's clock is ahead of this machine's; 0 on SQLite. */
  readonly clockOffsetMs: number;
}

/** The content of a restored folder. */
export interface Restored {
  readonly folder: string;
  readonly keyFile: string;
  readonly isKeyFromBackup: boolean;
  readonly version: string;
  readonly schema: number;
  readonly time: string;
}

/** The result of a move to PostgreSQL, after the comparison with SQLite. */
export interface Moved {
  readonly from: string;
  readonly keyFile: string;
  readonly schema: number;
  readonly rows: number;
  readonly tables: readonly { readonly table: string; readonly rows: number; readonly sha256: string }[];
}
