/**
 * What a run leaves behind for the checker: plain data, in words of their own, so that nothing of the code that is
 * checked has a say in it.
 */

/** A transaction that took effect, in the order in which they did. */
export interface CommittedTransaction {
  /** Counts from 0 over the whole run. */
  readonly seq: number;
  readonly atMs: number;
  readonly node: string;
  /** The right by which the commit was asked for, as its caller believed. */
  readonly claim: Claim | null;
  /** Who owned the links of the devices it touched, just before it. */
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

/** A row before and after; a row that wasn't there is null. */
export interface Write {
  /** `devices`, `links`, or `attributes/`, `commands/`, `triggers/` or `blind intervals/` with the device's id … */
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
  /** Its place in the log: the log is in the order of these, which need not be that of the commits. */
  readonly position: Position;
}

export interface Position {
  readonly transaction: number;
  readonly id: number;
}

/** A client's write with a value that no other write has. Open: no answer ever came. */
export interface ClientWrite {
  readonly value: string;
  readonly deviceId: number;
  outcome: "open" | "acknowledged" | "refused";
}

export type AttributeStates = ReadonlyMap<string | number, { readonly value: string | null; readonly timeMs: number }>;

export interface ClientRead {
  readonly node: string;
  readonly deviceId: number;
  /** The latest time of a write to the device that had been acknowledged when the read began. */
  readonly mustSeeMs: number;
  /** An unlinking that removed the device had been acknowledged when the read began. */
  readonly mustBeGone: boolean;
  /** How many transactions had taken effect when it began, and when it was answered. */
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Null when there was no such device. */
  readonly versionMs: number | null;
  readonly attributes: AttributeStates;
}

/** A person links, gives a new token, or unlinks. */
export interface LinkCall {
  readonly kind: "link" | "relink" | "unlink";
  readonly userId: number;
  /** The token that was given; null for an unlinking. */
  readonly token: string | null;
  /** How many transactions had taken effect when it was made, and when it was answered. */
  readonly fromSeq: number;
  toSeq: number;
  /** `refused`: there was (or was no) link already. `failed`: it may have happened or not. `open`: never answered. */
  outcome: "open" | "done" | "refused" | "failed";
  deviceId: number | null;
  /** What its node still did for the removed device when it had answered, in a sentence. */
  leftOver: string | undefined;
}

/** A node asked the ecosystem to end a token. */
export interface Revocation {
  readonly token: string;
  /** How many transactions had taken effect by then. */
  readonly seq: number;
}

/** An account that reached a node, on a stream or as the answer to a read that no stream has overtaken. */
export interface Arrival {
  readonly userId: number;
  readonly seq: number;
  readonly alarms: ReadonlyMap<string, AlarmTruth>;
  readonly structures: HomeTruth["structures"];
}

/** An alert on a state of an alarm that nobody touches: made by transaction `seq` or before. */
export interface Watch {
  readonly id: number;
  readonly userId: number;
  readonly deviceId: number;
  readonly x: number;
  readonly y: number;
  readonly sensor: "co" | "smoke";
  readonly seq: number;
}

/** What a reader of events was sent, and what was so when it arrived. */
export interface Frame {
  readonly id: string;
  readonly name: string;
  readonly data: string;
  /** How many transactions had taken effect, and up to where the log had been shortened. */
  readonly seq: number;
  readonly horizon: Position;
  /** More was under way than the service suffers when it was sent. */
  readonly wasSlow: boolean;
}

export interface ReaderRecord {
  readonly userId: number;
  /** None: all of the user's. */
  readonly deviceIds: readonly number[];
  readonly frames: readonly Frame[];
}

/** A message that a node sent to the receiver of a webhook. */
export interface DeliveryAttempt {
  readonly node: string;
  readonly messageId: string;
  readonly body: string;
  readonly sentMs: number;
  /** How many transactions had taken effect when it arrived, if it did; and which of all arrivals it was. */
  arrivedSeq: number | undefined;
  place: number | undefined;
  isTaken: boolean;
  /** When it was answered, given up, or its node died. */
  endedMs: number;
}

/** A stream as the ecosystem knows it, on the clock that goes right; null is what did not happen. */
export interface StreamLife {
  readonly userId: number;
  readonly token: string;
  readonly node: string;
  /** When its first account was delivered. */
  readonly firstMs: number | null;
  /** From when on it no longer brought what happened, if its node came to know that. */
  readonly deafMs: number | null;
  readonly endedMs: number | null;
}

export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What a poller knows after each of its polls: only what `since` ever told it. */
export interface Poll {
  readonly deviceId: number;
  readonly sinceMs: number;
  readonly told: readonly { readonly key: string | number; readonly value: string | null; readonly timeMs: number }[];
}

/** A home as its ecosystem knows it. */
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

/** A whole and readable account as a living owner received it on its stream. */
export interface Receipt {
  readonly userId: number;
  /** How many transactions had taken effect when it came. */
  readonly seq: number;
  readonly home: HomeTruth;
}

/** One user's link as it stands, and who follows it. */
export interface LinkStanding {
  readonly userId: number;
  readonly home: HomeTruth;
  readonly link: StoredRow | null;
  /** The values of the virtual device by number. */
  readonly values: ReadonlyMap<number, string | null>;
  /** Every living node that follows the link, with the state that it shows. */
  readonly followers: readonly { readonly node: string; readonly state: string }[];
  readonly openStreams: number;
  /** The fan requests of the virtual device. */
  readonly commands: readonly StoredRow[];
  /** The person wants to be linked. */
  readonly isWanted: boolean;
  /** Who still follows a link of this user that is gone, in words. */
  readonly strays: readonly string[];
}

/** A fan command that a node sent, and what the ecosystem answered, if that reached the node in time. */
export interface FanSend {
  readonly node: string;
  readonly userId: number;
  readonly thermostatId: string;
  readonly isOn: boolean;
  /** How many transactions had taken effect by then. */
  readonly seq: number;
  answer: "accepted" | "rejected" | "unauthorized" | undefined;
}

export interface FanRecord {
  readonly sends: readonly FanSend[];
  /** All receipts that are left in the end. */
  readonly commands: readonly StoredRow[];
  /** The nodes that live in the end. */
  readonly survivors: readonly string[];
}

export interface RunRecord {
  readonly readers: readonly ReaderRecord[];
  readonly attempts: readonly DeliveryAttempt[];
  /** All deliveries that are left in the end. */
  readonly deliveries: readonly StoredRow[];
  readonly watches: readonly Watch[];
  /** All alerts that are left in the end. */
  readonly triggers: readonly StoredRow[];
  readonly fans: FanRecord;
  readonly history: readonly CommittedTransaction[];
  readonly writes: readonly ClientWrite[];
  readonly reads: readonly ClientRead[];
  readonly polls: readonly Poll[];
  /** What the followers that were never replaced since received, per user in order. */
  readonly receipts: readonly Receipt[];
  readonly devices: readonly { readonly id: number; readonly lastTimeMs: number; readonly states: AttributeStates }[];
  readonly standings: readonly LinkStanding[];
  readonly calls: readonly LinkCall[];
  readonly revocations: readonly Revocation[];
  readonly arrivals: readonly Arrival[];
  /** The log entries that are left of each device that was removed. */
  readonly remains: readonly { readonly deviceId: number; readonly entries: number }[];
  /** Only of a run in which all clocks went right. */
  readonly sights: Sights | undefined;
}

/** What the ecosystem and the machines know about when each link could be seen; times are on the nodes' clocks. */
export interface Sights {
  readonly endMs: number;
  readonly streams: readonly StreamLife[];
  /** While a node stands still it notices nothing, nor that it doesn't. */
  readonly frozen: readonly (Stretch & { readonly node: string })[];
}
