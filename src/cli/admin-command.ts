import type { Command } from "commander";
import type { NewDevice } from "../devices/inventory.ts";
import type { Federation } from "../federation/federation.ts";
import type { AuditEntry } from "../identity/audit.ts";
import type { Identity } from "../identity/identity.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Clients } from "../oauth/clients.ts";
import type { Input } from "./input.ts";
import type { Tell } from "./progress.ts";

/** Something that an administrator speaks of, and the commands about it. */
export interface Noun {
  readonly name: string;
  readonly meaning: string;
  readonly commands: readonly AdminCommand[];
}

/** One command, whole: how it is typed, what it does, and what a person is told. */
export interface AdminCommand {
  /** As it is typed, noun and verb: `tenant add`. */
  readonly name: string;
  readonly meaning: string;
  /** Its own options, beside those that all commands have. */
  readonly options?: (command: Command) => Command;
  /** What goes to the service beside the options, or in their place: a password, or what stands in a file. */
  readonly bring?: (typed: Input, terminal: Terminal) => Promise<Input> | Input;
  /** From plain values to a plain answer: in the running service, or in a command that opened the store itself. */
  readonly act: (
    parts: AdministrationParts,
    input: Input,
    service: ServiceFacts | undefined,
    tell: Tell,
  ) => Promise<Done>;
  /** The answer in words, for a terminal. */
  readonly tell: (answer: Answer, typed: Input) => string;
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
  readonly clients: Pick<Clients, "addClient" | "listClients" | "rotateSecret" | "removeClient">;
  readonly federation: Pick<Federation, "unlinkAll">;
  readonly addDevice: (device: NewDevice) => Promise<DeviceId>;
  readonly removeDevice: (userId: UserId, deviceId: DeviceId) => Promise<void>;
  readonly links: () => Promise<readonly { readonly state: string; readonly count: number }[]>;
  readonly backup: (to: string, withKey: boolean, tell: Tell) => Promise<TakenBackup>;
  readonly keys: KeyActs;
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
  rotate(tell: Tell): Promise<{ readonly keyId: string; readonly resealed: number }>;
  prune(): Promise<readonly string[]>;
}

export interface KeyStanding {
  readonly keyId: string;
  readonly role: string;
  readonly values: number;
}

/** What the running service knows about itself; undefined when a command opened the store on its own. */
export interface ServiceFacts {
  readonly baseUrl: string;
}

export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
}
