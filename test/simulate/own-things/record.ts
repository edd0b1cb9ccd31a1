/** The record of own things in a run, for the checker. */

/** A user's call to command an own thing. */
export interface OwnCommandCall {
  readonly userId: number;
  readonly thingId: string;
  /** Trait, command and parameters, as JSON. */
  readonly command: string;
  /** Whether the thing is another user's. */
  readonly isForeign: boolean;
  /** `refused`: by the service, with a reason. `open`: never answered, or the outcome is unknown. */
  outcome: "open" | "done" | "refused";
  /** The id of the receipt. */
  receiptId: string | undefined;
  /** The number of committed transactions when it was answered. */
  toSeq: number;
}

/** A read of an own thing. */
export interface OwnThingRead {
  readonly userId: number;
  readonly deviceId: number;
  /** The number of committed transactions, and the true time, when the read began and when it was answered. */
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** The values of its fields as `trait.field`; undefined when the thing did not exist. */
  readonly values: ReadonlyMap<string, unknown> | undefined;
}

export interface OwnThingRecord {
  readonly calls: readonly OwnCommandCall[];
  readonly reads: readonly OwnThingRead[];
}
