import type { AssistantRecord } from "../assistants/check-assistants.ts";
import type { GoogleRecord } from "../google/check-google.ts";
import type { HostileRecord } from "../home-assistant/check-hostile.ts";
import type { OwnThingRecord } from "../own-things/record.ts";

/**
 * The record of a run for the checker: plain data with its own types, so that the checker does not depend on the code
 * that it checks.
 */

/** A committed transaction; the history lists them in commit order. */
export interface CommittedTransaction {
  /** The sequence number, from 0 over the whole run. */
  readonly seq: number;
  readonly atMs: number;
  readonly node: string;
  /** The owner and epoch that the writer claimed. */
  readonly claim: Claim | null;
  /** The owners of the links of the devices that it touched, just before the transaction. */
  readonly links: readonly LinkOwner[];
  readonly writes: readonly Write[];
  readonly log: readonly LogLine[];
}

export interface Claim {
  readonly deviceId: number;
  readonly owner: string;
  readonly epoch: number;
}

export interface LinkOwner {
  readonly deviceId: number;
  readonly owner: string | null;
  readonly epoch: number;
}

/** A row before and after the transaction; null if it did not exist. */
export interface Write {
  /** `devices`, `links`, or `attributes/`, `commands/`, `triggers/`, `thing triggers/` … with the device's id. */
  readonly table: string;
  readonly key: string | number;
  readonly before: StoredRow | null;
  readonly after: StoredRow | null;
}

export type StoredRow = Readonly<Record<string, unknown>>;

export interface LogLine {
  readonly userId: number | null;
  readonly deviceId: number | null;
  readonly kind: string;
  readonly timeMs: number;
  readonly body: string;
  /** The position in the log. The log is ordered by position, which may differ from commit order. */
  readonly position: Position;
}

export interface Position {
  readonly transaction: number;
  readonly id: number;
}

/** A client's write of a value that no other write has. `open`: it was never answered. */
export interface ClientWrite {
  readonly value: string;
  readonly deviceId: number;
  outcome: "open" | "acknowledged" | "refused";
}

export type AttributeStates = ReadonlyMap<string | number, { readonly value: string | null; readonly timeMs: number }>;

export interface ClientRead {
  readonly node: string;
  readonly deviceId: number;
  /** The latest acknowledged write time of the device when the read began. */
  readonly mustSeeMs: number;
  /** Whether an unlinking that removed the device had been acknowledged when the read began. */
  readonly mustBeGone: boolean;
  /** The number of committed transactions when the read began and when it was answered. */
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Null when the device did not exist. */
  readonly versionMs: number | null;
  readonly attributes: AttributeStates;
}

/** A user's call to link, replace the token, or unlink. */
export interface LinkCall {
  readonly kind: "link" | "relink" | "unlink";
  readonly userId: number;
  readonly node: string;
  /** The token of the call; null for an unlinking. */
  readonly token: string | null;
  /** The number of committed transactions when the call was made and when it was answered. */
  readonly fromSeq: number;
  toSeq: number;
  /** The true time of the answer. */
  toMs: number;
  /** `refused`: a link existed already (or did not exist). `failed`: the outcome is unknown. `open`: never answered. */
  outcome: "open" | "done" | "refused" | "failed";
  deviceId: number | null;
  /** Work that the node still did for the removed device after its answer, as a sentence. */
  leftOver: string | undefined;
}

/** A node's request to the ecosystem to revoke a token. */
export interface Revocation {
  readonly token: string;
  /** The number of committed transactions at that time. */
  readonly seq: number;
}

/**
 * An account that reached a node: on a stream, as the answer to a read that no stream event has overtaken, or as the
 * answer to the read of a call to link.
 */
export interface Arrival {
  readonly userId: number;
  readonly seq: number;
  readonly alarms: ReadonlyMap<string, AlarmTruth>;
  readonly structures: HomeTruth["structures"];
  /** Events of an earlier link have overtaken the read: only a new link may begin with this account. */
  readonly isOvertaken: boolean;
}

/** An alert on an alarm's state that no user changes any more; created by transaction `seq` or earlier. */
export interface Watch {
  readonly id: number;
  readonly userId: number;
  readonly deviceId: number;
  readonly x: number;
  readonly y: number;
  readonly sensor: "co" | "smoke";
  readonly seq: number;
}

/** The same for an alert on an alarm that is a thing: whether the alarm has a slot does not matter. */
export interface ThingWatch {
  readonly id: number;
  readonly userId: number;
  readonly deviceId: number;
  /** The ecosystem's id of the alarm. */
  readonly alarm: string;
  readonly sensor: "co" | "smoke";
  readonly seq: number;
}

/** A frame that a reader of events received, and the state of the store at that time. */
export interface Frame {
  readonly id: string;
  readonly name: string;
  readonly data: string;
  /** The number of committed transactions, and the position up to which the log had been truncated. */
  readonly seq: number;
  readonly horizon: Position;
  /** More bytes were unsent than the service allows when the frame was sent. */
  readonly wasSlow: boolean;
}

export interface ReaderRecord {
  readonly userId: number;
  /** The filter; empty: all devices of the user. */
  readonly deviceIds: readonly number[];
  readonly frames: readonly Frame[];
}

/** A message that a node sent to a webhook receiver. */
export interface DeliveryAttempt {
  readonly node: string;
  readonly messageId: string;
  readonly body: string;
  readonly sentMs: number;
  /** The number of committed transactions when it arrived, if it did, and its number among all arrivals. */
  arrivedSeq: number | undefined;
  arrivalNumber: number | undefined;
  isAccepted: boolean;
  /** When it was answered or given up, or when its node died. */
  endedMs: number;
}

/** A stream as the ecosystem knows it, by the true clock; null for an event that did not happen. */
export interface StreamLife {
  readonly userId: number;
  readonly token: string;
  readonly node: string;
  /** When the first account was delivered. */
  readonly firstMs: number | null;
  /** From when on the stream delivered no changes, if its node noticed. */
  readonly deafSinceMs: number | null;
  readonly endedMs: number | null;
}

export interface Interval {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The changes that a polling client got with `since` in one poll. */
export interface Poll {
  readonly deviceId: number;
  readonly sinceMs: number;
  readonly changes: readonly {
    readonly key: string | number;
    readonly value: string | null;
    readonly timeMs: number;
  }[];
}

/** The true state of a home in the ecosystem. */
export interface HomeTruth {
  readonly structures: ReadonlyMap<string, { readonly name: string | null; readonly away: string | null }>;
  readonly thermostats: ReadonlyMap<string, ThermostatTruth>;
  readonly alarms: ReadonlyMap<string, AlarmTruth>;
  readonly speaksOfAlarms: boolean;
}

export interface ThermostatTruth {
  readonly structureId: string | null;
  readonly name: string | null;
  readonly isOnline: boolean | null;
  readonly hasFan: boolean | null;
  readonly fanTimerActive: boolean | null;
  readonly fanTimerTimeout: string | null;
}

export interface AlarmTruth {
  readonly structureId: string | null;
  readonly name: string | null;
  readonly isOnline: boolean | null;
  readonly coAlarmState: string | null;
  readonly smokeAlarmState: string | null;
  readonly uiColorState: string | null;
}

/** A complete, readable account that a live owner received on its stream. */
export interface Receipt {
  readonly userId: number;
  /** The number of committed transactions when it arrived. */
  readonly seq: number;
  readonly home: HomeTruth;
}

/** The current state of a user's link, and the nodes that follow it. */
export interface LinkStanding {
  readonly userId: number;
  readonly home: HomeTruth;
  readonly link: StoredRow | null;
  /** The values of the virtual device by attribute number. */
  readonly values: ReadonlyMap<number, string | null>;
  /** The stored things of the link, gone ones included. */
  readonly things: readonly StoredRow[];
  /** All live nodes that follow the link, with the state that each shows. */
  readonly followers: readonly { readonly node: string; readonly state: string }[];
  readonly openStreams: number;
  /** The fan requests of the virtual device, and the commands to its things. */
  readonly commands: readonly StoredRow[];
  /** Whether the user wants to be linked. */
  readonly isWanted: boolean;
  /** Nodes that still follow a removed link of this user, as sentences. */
  readonly strays: readonly string[];
}

/** A fan command that a node sent, and the ecosystem's answer if it reached the node in time. */
export interface FanSend {
  readonly node: string;
  readonly userId: number;
  readonly token: string;
  readonly thermostatId: string;
  readonly isOn: boolean;
  /** The number of committed transactions at that time. */
  readonly seq: number;
  /** The ecosystem refused its token, so it was not carried out and may be sent again with another token. */
  isRefused: boolean;
  answer: "accepted" | "rejected" | "unauthorized" | undefined;
}

export interface FanRecord {
  readonly sends: readonly FanSend[];
  /** The receipts that exist at the end. */
  readonly commands: readonly StoredRow[];
  /** The nodes that are alive at the end. */
  readonly survivors: readonly string[];
}

/** A call to the ecosystem with an access token, except for the read that proves a token before it is stored. */
export interface TokenUse {
  readonly node: string;
  /** The follower that made the call, by number; undefined when the node had none at that time. */
  readonly follower: number | undefined;
  readonly token: string;
  readonly kind: "stream" | "command" | "read";
  /** The number of committed transactions at that time. */
  readonly seq: number;
  readonly atMs: number;
  /** When the node learned that the token was refused; undefined when it was accepted. */
  refusedMs: number | undefined;
  refusedSeq: number | undefined;
}

/** A call to renew a credential: from when a node made it until it was answered, given up, or carried out. */
export interface RenewalCall {
  readonly node: string;
  readonly refreshToken: string;
  readonly seq: number;
  readonly fromMs: number;
  toMs: number;
}

/** The ecosystem refused to renew any token of a grant. */
export interface RenewalRefusal {
  readonly grant: string;
  readonly seq: number;
}

export interface CredentialRecord {
  readonly uses: readonly TokenUse[];
  readonly calls: readonly RenewalCall[];
  readonly refusals: readonly RenewalRefusal[];
}

export interface RunRecord {
  /** Undefined in a run without assistants. */
  readonly assistants: AssistantRecord | undefined;
  /** Undefined in a run without devices of a company. */
  readonly ownThings: OwnThingRecord | undefined;
  /** Undefined in a run without Google. */
  readonly google: GoogleRecord | undefined;
  readonly hostile: HostileRecord;
  /** Devices that no client polls. */
  readonly unpolled: readonly number[];
  readonly credentials: CredentialRecord;
  readonly readers: readonly ReaderRecord[];
  readonly attempts: readonly DeliveryAttempt[];
  /** The deliveries that exist at the end. */
  readonly deliveries: readonly StoredRow[];
  readonly watches: readonly Watch[];
  readonly thingWatches: readonly ThingWatch[];
  /** The alerts that exist at the end, on attributes and on things. */
  readonly triggers: readonly StoredRow[];
  readonly fans: FanRecord;
  readonly history: readonly CommittedTransaction[];
  readonly writes: readonly ClientWrite[];
  readonly reads: readonly ClientRead[];
  readonly polls: readonly Poll[];
  /** What the current followers received, per user in order. */
  readonly receipts: readonly Receipt[];
  readonly devices: readonly { readonly id: number; readonly lastTimeMs: number; readonly states: AttributeStates }[];
  readonly standings: readonly LinkStanding[];
  readonly calls: readonly LinkCall[];
  readonly revocations: readonly Revocation[];
  readonly arrivals: readonly Arrival[];
  /** The number of remaining log entries of each removed device. */
  readonly remains: readonly { readonly deviceId: number; readonly entries: number }[];
  /** Only in a run with right clocks. */
  readonly visibility: Visibility | undefined;
}

/** When each link could be seen, from the records of the ecosystem and the machines; times are on the nodes' clocks. */
export interface Visibility {
  readonly endMs: number;
  readonly streams: readonly StreamLife[];
  /** A frozen node notices nothing, not even that it is frozen. */
  readonly frozen: readonly (Interval & { readonly node: string })[];
}
