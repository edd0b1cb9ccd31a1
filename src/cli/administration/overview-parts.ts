import type { ShownSetting } from "../../config/shown-settings.ts";
import type { Finding } from "../finding.ts";

/** What happened in each of the last 24 hours, the present one last. */
export interface Activity {
  /** The beginning of the first hour. */
  readonly sinceMs: number;
  readonly signIns: readonly number[];
  readonly failedSignIns: readonly number[];
  /** Messages to webhooks; of each webhook the newest 1,000 are stored. */
  readonly delivered: readonly number[];
  readonly failed: readonly number[];
  /** The time in which homes were blind, added up over the counted links. */
  readonly blind: {
    readonly ms: number;
    readonly blindLinks: number;
    readonly links: number;
    /** False when only the first links were counted. */
    readonly isAll: boolean;
    /** In each hour, the time in which links were seen, blind, or in an unknown state, added up. */
    readonly hours: {
      readonly seenMs: readonly number[];
      readonly blindMs: readonly number[];
      readonly unknownMs: readonly number[];
    };
  };
  /** How many links were in each state, once in each hour. */
  readonly linkStates: {
    /** Whether links were counted in the hour. If not, their states are unknown. */
    readonly isCounted: readonly boolean[];
    /** The states that occurred; null in an hour that was not counted. */
    readonly states: readonly { readonly state: string; readonly hours: readonly (number | null)[] }[];
  };
  /** For the whole deployment alone. */
  readonly nodes?: CountsOfNodes;
}

/** What the nodes have counted, also those that have ended, for the whole deployment. */
export interface CountsOfNodes {
  /** Changes of attributes; left out when no node answered. */
  readonly changes?: readonly number[];
  /** How often each limit was reached. */
  readonly limits: Readonly<Record<string, readonly number[]>>;
  /** What happened before is not counted in full. Left out when no node answered. */
  readonly countedSinceMs?: number;
  /** Nodes that did not answer. */
  readonly silent: readonly string[];
}

export interface EcosystemFacts {
  /** Its configured name. */
  readonly ecosystem: string;
  readonly name: string;
  /** Users can connect an account on a page of this service. */
  readonly hasLinkPage: boolean;
}

/** The service itself, for operators of the whole deployment. A function rejects when its fact can't be read. */
export interface DeploymentFacts {
  nodes(): Promise<readonly NodeFacts[]>;
  store(): Promise<StoreFacts>;
  disk(): Promise<{ readonly freeBytes: number; readonly totalBytes: number }>;
  /** Undefined without a certificate of its own: then a proxy ends TLS, or nothing does. */
  certificate(): Promise<{ readonly endsMs: number } | undefined>;
  lastBackupMs(): Promise<number | undefined>;
  /** How often each limit was reached in each of the last 24 hours. */
  limits(): Promise<CountsOfNodes["limits"]>;
  /** How many keys are missing from the key file; what is sealed with them can't be opened. */
  missingKeys(): Promise<number>;
  readonly settings: readonly ShownSetting[];
  readonly version: string;
  /** Checks this node and its machine, as `breezeway doctor` does. It takes some seconds when an address is silent. */
  examine(service: { readonly baseUrl: string; readonly listensAt?: string | undefined }): Promise<{
    readonly node: string;
    readonly checks: readonly Finding[];
  }>;
  /** The addresses of the configured ecosystems; one of them may be a simulator. */
  readonly ecosystems: readonly { readonly name: string; readonly url: string | undefined }[];
}

export interface NodeFacts {
  readonly node: string;
  readonly isThis: boolean;
  /** The time since its last heartbeat; null for the only node of SQLite. */
  readonly silentMs: number | null;
  readonly links: number;
  readonly schemaVersion: number | null;
}

export interface StoreFacts {
  readonly kind: "sqlite" | "postgres";
  readonly schemaVersion: number;
  /** The size of the SQLite file; null with PostgreSQL. */
  readonly bytes: number | null;
  /** Transactions that wait. */
  readonly waiting: number;
  readonly lastSyncMs: number;
}
