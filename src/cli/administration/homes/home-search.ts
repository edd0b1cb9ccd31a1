import type { DeviceId, TenantId, TriggerId, UserId } from "../../../model/ids.ts";

/** Things, own devices and alerts that have an id or a name. */
export interface FoundInHomes {
  readonly things: readonly (Owned & {
    readonly thingId: string;
    readonly deviceId: DeviceId;
    readonly name: string | null;
    readonly kind: string;
    readonly room: string | null;
  })[];
  readonly devices: readonly (Owned & {
    readonly deviceId: DeviceId;
    readonly name: string;
    readonly typeName: string;
  })[];
  readonly alerts: readonly (Owned & { readonly alertId: TriggerId })[];
  /** More things or devices have this name than are listed. */
  readonly hasMore: boolean;
  /** False: there are more names than one search compares, and the rest was not compared. Ids are always compared. */
  readonly areAllCompared: boolean;
}

interface Owned {
  readonly userId: UserId;
  readonly userName: string;
}

/** Finds within these tenants: by the whole id, and by a part of the name. */
export interface HomeSearch {
  find(text: string, tenantIds: readonly TenantId[]): Promise<FoundInHomes>;
}
