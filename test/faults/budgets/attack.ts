import type { Tally } from "./tally.ts";

/** The tenant that attacks, and where. All of it can be sent to another process. */
export interface Target {
  /** Where clients reach the service: its own address, or that of the proxy in front of it. */
  readonly url: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly secToken: string;
  readonly tenantId: number;
  readonly client: Credentials;
  readonly enterprise: Credentials;
  /** Ordinary devices. */
  readonly devices: readonly number[];
  /** The virtual device of an account in the simulator, with a fan. */
  readonly virtual: number;
}

export interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

export type Deployment = "SQLite, direct" | "PostgreSQL behind nginx";

/** How many rows a table has, before and after. */
export type Rows = Readonly<Record<string, { readonly before: number; readonly after: number }>>;

/** What is known when an attack is over. */
export interface Outcome {
  readonly got: Tally;
  readonly rows: Rows;
  /** How often each limit was reached, by its name; empty where the service does not count that. */
  readonly reached: Readonly<Record<string, number>>;
  /** The attacked tenant's neighbour signed in so often, and so often it was refused. */
  readonly signIns: { readonly done: number; readonly failed: number };
}

/**
 * Something that one tenant does, within its limits or beyond them. `prepare` and `run` happen in the process of the
 * attackers, `judge` in the test.
 */
export interface Attack {
  readonly name: string;
  /** The only deployment for which it makes sense, where that is one. */
  readonly only?: Deployment;
  /** How the service is configured otherwise. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Name servers never answer. Then webhooks on loopback are not allowed, and the alarm is awaited on the stream alone. */
  readonly hasSilentNameServer?: boolean;
  /** The link of the neighbour loses its stream when the attack begins. */
  readonly breaksStream?: boolean;
  /** What has to be there before the quiet time is measured. */
  readonly prepare?: (target: Target) => Promise<void>;
  /** Bounded in count and time. */
  readonly run: (target: Target) => Promise<Tally>;
  /** What must have become of it: throws when a mechanism did not hold. */
  readonly judge?: (outcome: Outcome) => void;
}
