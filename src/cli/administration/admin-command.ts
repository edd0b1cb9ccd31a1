import type { Alerts, ThingAlerts } from "../../alerts/alerts.ts";
import type { Assistants } from "../../assistants/assistants.ts";
import type { Outlet } from "../../assistants/outlets.ts";
import type { DeviceReading } from "../../devices/read.ts";
import type { RecentEvents } from "../../events/recent-chains.ts";
import type { WebhookAdministration } from "../../events/webhooks/webhook-administration.ts";
import type { Federation } from "../../federation/federation.ts";
import type { LinkCounts, LinkOverview } from "../../federation/link-counts.ts";
import type { FoundLink, ShownLink } from "../../federation/link-overview.ts";
import type { AuditEntry } from "../../identity/audit.ts";
import type { Identity } from "../../identity/identity.ts";
import type { DeviceId, TenantId, UserId } from "../../model/ids.ts";
import type { Clients } from "../../oauth/clients.ts";
import type { CommandTokens } from "../../oauth/command-tokens.ts";
import type { GrantAdministration } from "../../oauth/grant-administration.ts";
import type { Operator } from "../../operators/operator.ts";
import type { Operators } from "../../operators/operators.ts";
import type { DeviceTypes } from "../../provisioning/device-types.ts";
import type { NewDevice } from "../../provisioning/new-device.ts";
import type { QuotaSettings } from "../../quotas/quota-settings.ts";
import type { FindQuotaUse } from "../../quotas/quota-use.ts";
import type { RequestSearch } from "../../requests/request-search.ts";
import type { DescribedCommand } from "../command.ts";
import type { Input } from "../input.ts";
import type { ReportProgress } from "../terminal/progress.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { HomeAlerts } from "./homes/home-alerts.ts";
import type { HomeDevices } from "./homes/home-devices.ts";
import type { HomeParts } from "./homes/home-parts.ts";
import type { HomeSearch } from "./homes/home-search.ts";
import type { Activity, DeploymentFacts, EcosystemFacts } from "./overview-parts.ts";
import type { Verifications } from "./verifications.ts";

/** A command of an administrator: its syntax and help, its act, and its output on a terminal. */
export interface AdminCommand extends DescribedCommand, AdminAct {
  /** A read that must succeed before the command asks for a secret, so that no password is typed in vain. */
  readonly precheck?: (typed: Input) => { readonly command: string; readonly input: Input };
  /** Input for the service in addition to the options: a password, or the content of a file. */
  readonly extraInput?: (typed: Input, terminal: Terminal) => Promise<Input> | Input;
  /** The extra input describes this machine, and is not sent to a service elsewhere. */
  readonly isReadOnMachine?: true;
  /** The answer as text, for a terminal of this width. */
  readonly toText: (answer: Answer, typed: Input, width?: number) => string;
  /** The exit code of a command that succeeded and whose answer may tell of a failure; 0 when left out. */
  readonly exitCode?: (answer: Answer) => number;
}

export interface AdminAct {
  readonly name: string;
  /** The work of the command, from plain input to a plain answer. It runs in the service, or on a store that the command opened. */
  readonly act: (
    parts: ActParts,
    input: Input,
    service: ServiceFacts | undefined,
    onProgress: ReportProgress,
  ) => Promise<Done>;
}

// biome-ignore lint/suspicious/noExplicitAny: each command knows its own answer, which has come as JSON
export type Answer = any;

/** The answer of an act and, if it changed something, its entry for the audit log. */
export interface Done {
  readonly answer: object;
  readonly changed?: Changed;
}

export type Changed = Pick<AuditEntry, "tenantId" | "userId" | "clientId" | "detail">;

export interface AdministrationParts {
  /** Host and port of a node, for people; its id if these are not known. */
  readonly nameOfNode: (id: string) => string;
  readonly identity: Identity;
  readonly clients: Pick<
    Clients,
    | "addClient"
    | "listClients"
    | "grantsByScope"
    | "editClient"
    | "rotateSecret"
    | "suspendClient"
    | "resumeClient"
    | "removeClient"
  >;
  readonly grants: GrantAdministration;
  readonly webhooks: WebhookAdministration;
  readonly operators: Operators;
  /** The operator who acts; undefined for a command on the machine itself. */
  readonly operator?: Operator;
  readonly commandTokens: Pick<CommandTokens, "issue">;
  readonly federation: Pick<Federation, "unlinkAll">;
  readonly devices: Pick<DeviceReading, "list" | "device">;
  readonly alerts: Pick<Alerts, "find"> & { readonly onThings: Pick<ThingAlerts, "find"> };
  readonly deviceTypes: DeviceTypes;
  readonly assistants: Pick<Assistants, "outlets" | "grants" | "omitted" | "deliveries" | "health">;
  /** Answers a message as if the user's assistant had sent it. */
  readonly tryDirective: (outlet: Outlet, userId: UserId, message: unknown) => Promise<object>;
  /** The recent requests of all nodes. */
  readonly requests: RequestSearch;
  readonly quotas: {
    readonly settings: Pick<QuotaSettings, "stored" | "change">;
    /** How much is used on each node. */
    readonly useOf: FindQuotaUse;
  };
  readonly addDevice: (device: NewDevice) => Promise<DeviceId>;
  readonly removeDevice: (userId: UserId, deviceId: DeviceId) => Promise<void>;
  readonly linksOf: (userId: UserId) => Promise<readonly ShownLink[]>;
  readonly links: () => Promise<LinkOverview>;
  /** Links of some tenants, or of all, a few at a time. */
  readonly foundLinks: (filter: LinkFilter) => AsyncIterable<readonly FoundLink[]>;
  /** Links of some tenants, or of all, counted by state; up to a second old. */
  readonly linkCounts: LinkCounts;
  /** For how long each of these links was blind in this time, up to now. */
  readonly blindTimes: (links: readonly FoundLink[], withinMs: number) => Promise<ReadonlyMap<DeviceId, number>>;
  /** What happened in the last 24 hours, in some tenants or in all. */
  readonly activity: (tenantIds: readonly TenantId[] | undefined) => Promise<Activity>;
  /** The service itself; undefined for an operator who does not reach all of it. */
  readonly deployment: DeploymentFacts | undefined;
  /** The configured ecosystems. */
  readonly ecosystems: readonly EcosystemFacts[];
  readonly homes: HomeParts;
  readonly homeAlerts: HomeAlerts;
  readonly homeDevices: HomeDevices;
  readonly homeSearch: HomeSearch;
  /** What happened last in all homes, by cause. */
  readonly homeEvents: RecentEvents;
  readonly backup: (to: string, withKey: boolean, onProgress: ReportProgress) => Promise<TakenBackup>;
  /** The address for clients; undefined before the first service has started. */
  readonly publicAddress: () => Promise<string | undefined>;
  /** Where backups go that an operator takes over HTTP. */
  readonly backupFolder: string;
  /** Records that a backup was taken now with other tools, and returns the time. */
  readonly recordBackup: () => Promise<number>;
  readonly verifications: Verifications;
  readonly keys: KeyActs;
  /** Returns free space to the file system. */
  readonly compact: (
    options: { readonly mayRebuild: boolean },
    onProgress: ReportProgress,
  ) => Promise<{ readonly bytesBefore: number; readonly bytesAfter: number }>;
  /** After a restore: begins a new epoch of the log and returns its name. */
  readonly beginEpoch: () => Promise<string>;
}

/** The parts for one run of an act. */
export interface ActParts extends AdministrationParts {
  /** Runs another command for the same administrator. It may be called after the act has answered. */
  readonly administer: (command: string, input: object) => Promise<Answer>;
  /** Audits what an act has changed before it fails. An act that succeeds answers with `changed` instead. */
  readonly recordUnfinished: (changed: Changed) => Promise<void>;
  /** The same entry, for an act that stores it with its first transaction. */
  readonly unfinishedEntry: (changed: Changed) => AuditEntry;
}

export interface LinkFilter {
  /** Undefined: of all tenants. */
  readonly tenantIds?: readonly TenantId[] | undefined;
  /** The link before the first one. */
  readonly after?: { readonly userId: UserId; readonly ecosystem: string } | undefined;
  /** Only links whose user, ecosystem or device contains this text, whatever the case. */
  readonly text?: string | undefined;
  /** Only links that are shown in this state. */
  readonly state?: string | undefined;
  /** Only links of homes in which an alarm may sound. */
  readonly isSounding?: boolean | undefined;
}

/** A completed backup with its manifest. */
export interface TakenBackup {
  readonly file: string;
  readonly bytes: number;
  readonly manifest: {
    readonly version: string;
    readonly commit?: string;
    readonly schema: number;
    readonly time: string;
    readonly keyIds: readonly string[];
  };
}

/** The acts on the keys that seal tokens. */
export interface KeyActs {
  list(): Promise<readonly KeyStatus[]>;
  add(): Promise<string>;
  rotate(onProgress: ReportProgress, isForced: boolean): Promise<KeyRotation>;
  prune(isForced: boolean): Promise<readonly string[]>;
  drop(keyId: string, isForced: boolean): Promise<readonly LostValue[]>;
}

export interface KeyStatus {
  readonly keyId: string;
  readonly role: string;
  readonly values: number;
  /** The number of nodes that seal with it, on a shared store. */
  readonly nodes?: number;
}

export interface KeyRotation {
  readonly keyId: string;
  readonly resealed: number;
  /** Nodes that still seal with another key. */
  readonly behind: readonly string[];
  /** Those of them without a heartbeat, with the seconds since the last one. */
  readonly silent?: readonly { readonly node: string; readonly seconds: number }[];
}

/** A value that was lost with a key. */
export type LostValue =
  | { readonly kind: "link"; readonly userId: number; readonly deviceId: number; readonly ecosystem: string }
  | { readonly kind: "webhook" | "outlet"; readonly id: string; readonly ownerId: number; readonly clientId: string };

/** What the running service knows about itself; undefined when a command opened the store itself. */
export interface ServiceFacts {
  /** The address for clients, which may be that of a proxy. */
  readonly baseUrl: string;
  /** The address on this machine. */
  readonly listensAt?: string;
}
