/** A device as the calls of /admin/v1 show it. */
export interface ShownDevice {
  readonly userId: number;
  readonly userName: string;
  readonly deviceId: number;
  readonly deviceName: string;
  readonly deviceTypeName: string;
  readonly room: string | null;
  readonly virtual: boolean;
  readonly present: boolean;
  readonly stale: boolean;
  readonly confirmedTime: number | null;
  readonly attributes: readonly ShownAttribute[];
  readonly webhooks: readonly { readonly webhookId: string; readonly clientId: string; readonly ofTenant: boolean }[];
}

export interface ShownAttribute {
  readonly name: string;
  readonly value: string | null;
  readonly updateTime: number;
  readonly place: readonly string[];
  readonly field: string;
  readonly slot: string;
  readonly writable: boolean;
}

export interface PastChange {
  readonly time: number;
  readonly name: string;
  readonly value: string | null;
}

export interface PastChanges {
  readonly from: number;
  readonly changes: readonly PastChange[];
  readonly cut: boolean;
}
