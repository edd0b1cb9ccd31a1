/** A device in a list. */
export interface DeviceSummary {
  readonly deviceId: number;
  /** The device's owner. Only with an enterprise token. */
  readonly userId?: number;
  readonly deviceName: string;
  /** The room that the company has set. Only with an access token, and only if there is one. */
  readonly room?: string;
  /** `EcosystemAccount` for a linked account. Only with an access token; a secToken shows `typeId` instead. */
  readonly deviceTypeName: string | undefined;
  readonly typeId: number | undefined;
  /** 1 if it is present, else 0. Only with an access token. */
  readonly presenceInfo: number | undefined;
}

/** One attribute of a device. */
export interface Attribute {
  /** Totals are numbers, everything else is text; booleans are "true" and "false". Null: erased or blank. */
  readonly value: string | number | null;
  /** Time of the last change in milliseconds; each change of a device has a later time. */
  readonly updateTime: number;
}

/** A device with its attributes. */
export interface Device {
  readonly deviceId: number;
  /** The device's owner. Only with an enterprise token. */
  readonly userId?: number;
  /** Only with an access token. */
  readonly deviceName: string | undefined;
  /** The room that the company has set. Only with an access token, and only if there is one. */
  readonly room?: string;
  readonly deviceTypeName: string;
  /** 1 if it is present, else 0. A linked account is present while its stream is live. */
  readonly presenceInfo: number;
  /** Whether the values may be out of date. Only with an access token. */
  readonly stale: boolean | undefined;
  /** When the ecosystem last confirmed the whole state, in milliseconds. Only of linked accounts, with an access token. */
  readonly confirmedTime: number | undefined;
  readonly attributes: Readonly<Record<string, Attribute>>;
}

/** A value to write. It is stored as text; null or "" erases the attribute. */
export type WrittenValue = string | number | boolean | null;

/** A user in answers of /v3. */
export interface User {
  readonly userId: number;
  readonly userName: string;
  readonly tenant: string;
  readonly createdTime: number;
}

/** The service's receipt of a fan request. */
export interface Command {
  readonly commandId: number;
  /** The attribute that was written. */
  readonly name: string;
  readonly value: string;
  readonly state: "queued" | "sending" | "accepted" | "confirmed" | "contradicted" | "rejected" | "expired";
  /** Why it was rejected. */
  readonly text: string | null;
  readonly requestedTime: number;
  readonly sentTime: number | null;
  readonly settledTime: number | null;
}

/** The cause of a change. */
export interface Cause {
  readonly by: "ecosystem" | "client" | "alert" | "administrator";
  readonly [detail: string]: unknown;
}

/** A change in a device's past. */
export interface PastChange {
  readonly name: string;
  readonly value: string | number | null;
  readonly updateTime: number;
  readonly cause: Cause;
}
