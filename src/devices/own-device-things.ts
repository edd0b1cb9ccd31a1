import type { DeviceId, TenantId } from "../model/ids.ts";
import type { Transaction } from "../store/seam.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { PresentValues } from "./growth.ts";
import type { ThingChange } from "./thing-writes.ts";

/** Tells a commit which changes of an own device's attributes change its thing. `own-things/` implements it. */
export interface OwnDeviceThings {
  /** Undefined when the device is no thing: it is a linked account's, or its type has no map. */
  written(
    tx: Pick<Transaction, "deviceTypeMaps">,
    device: DeviceRow,
    changes: readonly { readonly key: AttributeKey }[],
    isByAlert: boolean,
  ): Promise<WrittenOwnThing | undefined>;
  /** Undefined unless the device has exceeded the silence limit of its map and the log does not say so yet. */
  silenced(tx: Pick<Transaction, "deviceTypeMaps">, device: DeviceRow, nowMs: number): Promise<OwnSilence | undefined>;
  /** The things of a tenant's devices that are being added, in the order of the devices; undefined without a map. */
  ofNewDevices(
    tx: Pick<Transaction, "deviceTypeMaps">,
    tenantId: TenantId,
    devices: readonly NewDeviceValues[],
    nowMs: number,
  ): Promise<readonly (NewOwnThing | undefined)[]>;
}

/** A device that is being added, as far as its thing depends on it. */
export interface NewDeviceValues {
  readonly id: DeviceId;
  readonly typeId: number;
  readonly changes: readonly WrittenValue[];
}

export interface NewOwnThing {
  readonly thingId: string;
  /** What the first values change; undefined when no field of the thing gets a value. */
  readonly first: ThingChange | undefined;
  /** A smoke or CO sensor of the thing reports a warning or an alarm. */
  readonly sounds: boolean;
}

/** A device has fallen silent: its thing is unavailable since a time. */
export interface OwnSilence {
  readonly change: ThingChange;
  readonly timeMs: number;
}

/** The thing of a device that is being written, under the device's lock. */
export interface WrittenOwnThing {
  /** The attributes that the thing depends on beside the written ones: their values must be read too. */
  readonly attributes: readonly string[];
  /** An alert wrote to a device with a silence limit: the write does not show that the device is there. */
  readonly isUnheard: boolean;
  /** What the write changes; undefined when no field of the thing differs. */
  change(present: PresentValues, written: readonly WrittenValue[], nowMs: number): ThingChange | undefined;
  /** True while a smoke or CO sensor reports a warning or an alarm; undefined when the write is not about these. */
  sounds(present: PresentValues, written: readonly WrittenValue[]): boolean | undefined;
}

export interface WrittenValue {
  readonly key: AttributeKey;
  readonly value: string | null;
}
