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
  /** `devices`, `links`, or `attributes/` with the device's id. */
  readonly table: string;
  readonly key: string | number;
  readonly before: StoredRow | null;
  readonly after: StoredRow | null;
}

export type StoredRow = Readonly<Record<string, unknown>>;

export interface LogLine {
  readonly deviceId: number | null;
  readonly kind: string;
  readonly timeMs: number;
  readonly body: string;
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
  readonly versionMs: number;
  readonly attributes: AttributeStates;
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
}

export interface RunRecord {
  readonly history: readonly CommittedTransaction[];
  readonly writes: readonly ClientWrite[];
  readonly reads: readonly ClientRead[];
  readonly polls: readonly Poll[];
  /** What the followers that were never replaced since received, per user in order. */
  readonly receipts: readonly Receipt[];
  readonly devices: readonly { readonly id: number; readonly lastTimeMs: number; readonly states: AttributeStates }[];
  readonly standings: readonly LinkStanding[];
}
