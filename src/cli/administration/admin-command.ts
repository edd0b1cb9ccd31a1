import type { Alerts } from "../../alerts/alerts.ts";
import type { NewDevice } from "../../devices/inventory.ts";
import type { DeviceReading } from "../../devices/read.ts";
import type { Federation } from "../../federation/federation.ts";
import type { LinkOverview, ShownLink } from "../../federation/link-overview.ts";
import type { AuditEntry } from "../../identity/audit.ts";
import type { Identity } from "../../identity/identity.ts";
import type { DeviceId, UserId } from "../../model/ids.ts";
import type { Clients } from "../../oauth/clients.ts";
import type { CommandTokens } from "../../oauth/command-tokens.ts";
import type { DescribedCommand } from "../command.ts";
import type { Input } from "../input.ts";
import type { Tell } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** One command of an administrator, whole: how it is typed, what it does, and what a person is told. */
export interface AdminCommand extends DescribedCommand, AdminAct {
  /** A reading command that must succeed before a secret is asked for: nobody types a password for nothing. */
  readonly first?: (typed: Input) => { readonly command: string; readonly input: Input };
  /** What goes to the service beside the options, or in their place: a password, or what stands in a file. */
  readonly bring?: (typed: Input, terminal: Terminal) => Promise<Input> | Input;
  /** The answer in words, for a terminal of that width. */
  readonly tell: (answer: Answer, typed: Input, width?: number) => string;
}

export interface AdminAct {
  readonly name: string;
  /** From plain values to a plain answer: in the running service, or in a command that opened the store itself. */
  readonly act: (
    parts: AdministrationParts,
    input: Input,
    service: ServiceFacts | undefined,
    tell: Tell,
  ) => Promise<Done>;
}

// biome-ignore lint/suspicious/noExplicitAny: each command knows its own answer, which has come as JSON
export type Answer = any;

/** What an act answers and, when it changed something, what the audit log is to know of it. */
export interface Done {
  readonly answer: object;
  readonly changed?: Pick<AuditEntry, "tenantId" | "userId" | "clientId" | "detail">;
}

export interface AdministrationParts {
  readonly identity: Identity;
  readonly clients: Pick<Clients, "addClient" | "listClients" | "grantsByScope" | "rotateSecret" | "removeClient">;
  readonly commandTokens: Pick<CommandTokens, "issue">;
  readonly federation: Pick<Federation, "unlinkAll">;
  readonly devices: Pick<DeviceReading, "list" | "device">;
  readonly alerts: Pick<Alerts, "find">;
  readonly addDevice: (device: NewDevice) => Promise<DeviceId>;
  readonly removeDevice: (userId: UserId, deviceId: DeviceId) => Promise<void>;
  readonly linksOf: (userId: UserId) => Promise<readonly ShownLink[]>;
  readonly links: () => Promise<LinkOverview>;
  readonly backup: (to: string, withKey: boolean, tell: Tell) => Promise<TakenBackup>;
  /** Keeps that a backup was taken now by other tools; answers the time. */
  readonly noteBackup: () => Promise<number>;
  readonly keys: KeyActs;
  /** Gives free space back to the file system. */
  readonly compact: (
    options: { readonly mayRebuild: boolean },
    tell: Tell,
  ) => Promise<{ readonly bytesBefore: number; readonly bytesAfter: number }>;
  /** The store was restored: begins an epoch of its log, and answers its name. */
  readonly beginEpoch: () => Promise<string>;
}

/** A backup that was taken, and what it says about itself. */
export interface TakenBackup {
  readonly file: string;
  readonly bytes: number;
  readonly manifest: {
    readonly version: string;
    readonly schema: number;
    readonly time: string;
    readonly keyIds: readonly string[];
  };
}

/** What can be done about the keys that tokens are sealed with. */
export interface KeyActs {
  list(): Promise<readonly KeyStanding[]>;
  add(): Promise<string>;
  rotate(tell: Tell, isForced: boolean): Promise<KeyRotation>;
  prune(isForced: boolean): Promise<readonly string[]>;
  drop(keyId: string, isForced: boolean): Promise<readonly LostValue[]>;
}

export interface KeyStanding {
  readonly keyId: string;
  readonly role: string;
  readonly values: number;
  /** How many nodes seal with it, where several can. */
  readonly nodes?: number;
}

export interface KeyRotation {
  readonly keyId: string;
  readonly resealed: number;
  /** Nodes that still seal with another key. */
  readonly behind: readonly string[];
}

/** What was lost with a key. */
export type LostValue =
  | { readonly kind: "link"; readonly userId: number; readonly deviceId: number; readonly ecosystem: string }
  | { readonly kind: "webhook"; readonly id: string; readonly ownerId: number; readonly clientId: string };

/** What the running service knows about itself; undefined when a command opened the store on its own. */
export interface ServiceFacts {
  /** Where clients reach it, perhaps through a proxy. */
  readonly baseUrl: string;
  /** Where it listens on this machine. */
  readonly listensAt?: string;
}
