import type { OnLimitReached } from "../model/limits.ts";
import type { ReadLargeJson } from "../runtime/json/json-thread.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { CodeFlow } from "./code-flow.ts";
import type { Connector } from "./connector.ts";
import type { UnfinishedMessages } from "./kit/unfinished-messages.ts";

/**
 * A protocol that Breezeway speaks: how its settings are read, and how its connector is built. Each protocol has a
 * folder here and one entry in registry.ts. It loads its connector on demand, so that commands which only read the
 * settings start fast.
 */
export interface Protocol<Configuration extends EcosystemConfiguration = EcosystemConfiguration> {
  /** The word in the settings. */
  readonly protocol: string;
  /**
   * How the owner of an account consents. `token`: a client brings a token along. `code`: also by a code flow, if the
   * settings have one.
   */
  readonly consent: "token" | "code";
  readonly page: ProtocolPage;
  /** Whether Google has this thing's device already, so that it must not be shown there again. Left out: never. */
  isGoogles?(thing: { readonly integration?: string | null }): boolean;
  /** Reads the settings of the ecosystem with this name. Throws InvalidSetting. */
  readConfiguration(name: string, settings: Settings): Configuration;
  connector(configuration: Configuration, parts: ConnectorParts): Promise<Connector>;
}

/** The settings of one ecosystem. A protocol adds its own. */
export interface EcosystemConfiguration {
  /** In lower case. */
  readonly name: string;
  readonly protocol: string;
  /** The address of the ecosystem; undefined when each account has its own. */
  readonly apiUrl?: string;
  /** Undefined when Breezeway itself never asks an account's owner. */
  readonly consent?: CodeFlow;
}

/** One ecosystem's JSON object in the settings. */
export type Settings = Readonly<Record<string, unknown>>;

/** What the service hands to every connector. */
export interface ConnectorParts {
  readonly runtime: Runtime;
  readonly readJson: ReadLargeJson;
  /** Bounds the unfinished messages of all connectors together. */
  readonly unfinished: UnfinishedMessages;
  readonly onLimitReached: OnLimitReached;
}

/** A protocol's part of docs/configuration.md. */
export interface ProtocolPage {
  /** The settings on one line, for the help of the command line. */
  readonly shortExample: string;
  /** The settings of one ecosystem, as they are in a file. */
  readonly example: { readonly name: string; readonly settings: Settings };
  /** The meaning of each member, or of members that belong together. */
  readonly members: readonly (readonly [members: string, meaning: string])[];
}
