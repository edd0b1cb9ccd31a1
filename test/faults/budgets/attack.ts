import type { Parts } from "../../../src/service/parts.ts";
import type { Note, Sighting } from "./sightings.ts";
import type { Tally } from "./tally.ts";

/** The attacking tenant and the address of the service. It can be sent to another process. */
export interface Target {
  /** The address for clients: the service's own, or that of the proxy in front of it. */
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
  /** The user, as they sign in. */
  readonly person: { readonly name: string; readonly password: string };
  /** The token of the tenant's administrator. */
  readonly operatorToken: string;
  /** The user's access tokens at Google and Alexa, by which these call the service. */
  readonly googleToken: string;
  readonly alexaToken: string;
}

export interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

export type Deployment = "SQLite, direct" | "PostgreSQL behind nginx";

/** The number of rows of each table, before and after. */
export type Rows = Readonly<Record<string, { readonly before: number; readonly after: number }>>;

/** The result of an attack. */
export interface Outcome {
  readonly got: Tally;
  /** What the service did with the messages of an outside cloud. */
  readonly sightings: readonly Sighting[];
  readonly rows: Rows;
  /** How often each limit was reached, by name; empty if the service does not count it. */
  readonly reached: Readonly<Record<string, number>>;
  /** How often the neighbour signed in, and how often it was refused. */
  readonly signIns: { readonly done: number; readonly failed: number };
  /** Bytes by which the service's memory (RSS) was larger than before, at most. */
  readonly rssGrown: number;
  /** Bytes of live objects right after the attack, with its connections open, beyond those before. */
  readonly heapKept: number;
}

/**
 * Something that one tenant does, within its limits or beyond them. `prepare` and `run` happen in the attackers' process,
 * `judge` in the test.
 */
export interface Attack {
  readonly name: string;
  /** The only deployment for which the attack makes sense, if there is one. */
  readonly only?: Deployment;
  /** Additional settings of the service. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Name servers never answer. Then webhooks on loopback are not allowed, and only the stream reports the alarm. */
  readonly hasSilentNameServer?: boolean;
  /** The neighbour's link loses its stream when the attack begins. */
  readonly breaksStream?: boolean;
  /** Fills the store of the attacker's tenant before the service starts. It happens in the test's process. */
  readonly fill?: (parts: Parts, target: Omit<Target, "url">) => Promise<void>;
  /** Set-up before the calm period is measured. */
  readonly prepare?: (target: Target) => Promise<void>;
  /** Bounded in count and time. */
  readonly run: (target: Target, note: Note) => Promise<Tally>;
  /** Asserts that the mechanisms held. */
  readonly judge?: (outcome: Outcome) => void;
}
