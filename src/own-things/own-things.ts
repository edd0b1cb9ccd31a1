import { thingEntry } from "../devices/log-entries.ts";
import type {
  NewDeviceValues,
  NewOwnThing,
  OwnDeviceThings,
  OwnSilence,
  WrittenOwnThing,
} from "../devices/own-device-things.ts";
import type { ReadThing } from "../devices/read-thing.ts";
import type { ThingChange } from "../devices/thing-writes.ts";
import { traits } from "../home/catalogue.ts";
import { readMapped } from "../home/mapped-value.ts";
import {
  type AttributeTexts,
  hasSilenceLimit,
  isSilent,
  ownDescriptor,
  ownFieldChanges,
  ownSilence,
  ownState,
} from "../home/own-thing.ts";
import { attributeSource, mappedAttributes, settableIn, type TraitMap } from "../home/trait-map.ts";
import type { AccessScope } from "../model/access-scope.ts";
import type { TenantId } from "../model/ids.ts";
import type { Transaction } from "../store/seam.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import { type DeviceRow, lastHeardMs } from "../store/tables/devices.ts";
import type { LogEntry } from "../store/tables/log.ts";
import type { MappedDeviceRow } from "../store/tables/mapped-devices.ts";
import type { OwnThingIds } from "./own-thing-ids.ts";
import { TraitMaps, type VersionedMap } from "./trait-maps.ts";

/** The `source` of a thing that is derived from an own device. */
export const ownSource = "own";

export type OwnThingTables = Pick<Transaction, "deviceTypeMaps" | "mappedDevices" | "clock">;

/** Derives things from the devices of tenants' own types. */
export class OwnThings implements OwnDeviceThings {
  readonly ids: OwnThingIds;
  readonly maps = new TraitMaps();

  constructor(ids: OwnThingIds) {
    this.ids = ids;
  }

  async written(
    tx: Pick<Transaction, "deviceTypeMaps">,
    device: DeviceRow,
    changes: readonly { readonly key: AttributeKey }[],
    isByAlert: boolean,
  ): Promise<WrittenOwnThing | undefined> {
    const found = await this.mapOf(tx, device);
    if (!found) return undefined;
    const { map } = found;
    const names = mappedAttributes(map);
    const areRead = changes.some(({ key }) => names.has(key as string));
    const { id } = device;
    const isUnheard = isByAlert && hasSilenceLimit(map);
    return {
      attributes: areRead ? [...names] : [],
      isUnheard,
      change: (present, written, nowMs) => {
        const before = present as AttributeTexts;
        const after = new Map([...before, ...written.map(({ key, value }) => [key as string, value] as const)]);
        const comesBack = !isUnheard && isSilent(map, lastHeardMs(device), nowMs);
        const fields = ownFieldChanges(map, before, after, comesBack);
        return fields.length === 0 ? undefined : { thingId: this.ids.thingIdOf(id), what: "state", fields };
      },
      sounds(present, written) {
        const after = new Map([
          ...(present as AttributeTexts),
          ...written.map(({ key, value }) => [key as string, value] as const),
        ]);
        return written.some(({ key }) => isAlarmState(map, key)) ? ownSounds(map, after) : undefined;
      },
    };
  }

  /** The map of a locked device's type. */
  async mapOf(tx: Pick<Transaction, "deviceTypeMaps">, device: DeviceRow): Promise<VersionedMap | undefined> {
    const { isVirtual, tenantId, typeId, mapChangedMs } = device;
    if (isVirtual || tenantId === undefined || typeof mapChangedMs !== "number") return undefined;
    return this.maps.of(tx, { tenantId, typeId, mapChangedMs });
  }

  /** The thing with this id; undefined when it is no own thing within the access scope. */
  async find(tx: OwnThingTables, accessScope: AccessScope, thingId: string): Promise<ReadThing | undefined> {
    const deviceId = this.ids.deviceOf(thingId);
    const device = deviceId === undefined ? undefined : await tx.mappedDevices.within(accessScope, deviceId);
    return device && (await this.derive(tx, [device]))[0];
  }

  /**
   * The things of these devices, in their order, as they are now, or as they were at the time `atMs`, which decides who is
   * silent. Each field has the time since which it is shown, which is never before the map; with `timesOf: "writes"` the
   * time at which the device wrote it.
   */
  async derive(
    tx: OwnThingTables,
    devices: readonly MappedDeviceRow[],
    { timesOf = "fields", atMs }: { readonly timesOf?: "fields" | "writes"; readonly atMs?: number | undefined } = {},
  ): Promise<readonly ReadThing[]> {
    const mapped: (readonly [MappedDeviceRow, VersionedMap])[] = [];
    for (const device of devices) {
      const found = await this.maps.of(tx, device);
      if (found) mapped.push([device, found]);
    }
    const names = new Set(mapped.flatMap(([, { map }]) => [...mappedAttributes(map)]));
    const attributes = await tx.mappedDevices.attributes(
      mapped.map(([device]) => device),
      [...names],
    );
    const byDevice = Map.groupBy(attributes, ({ deviceId }) => deviceId);
    const nowMs = atMs ?? (await tx.clock.nowMs());
    return mapped.map(([device, { map, changedMs }]) => {
      const { id, userId } = device;
      const values = new Map((byDevice.get(id) ?? []).map((one) => [one.name, one]));
      return {
        ...ownDescriptor(map, device),
        userId,
        thingId: this.ids.thingIdOf(id),
        deviceId: id,
        source: ownSource,
        goneMs: null,
        settable: settableIn(map),
        state: ownState(
          map,
          { attributes: values, lastTimeMs: lastHeardMs(device), mapChangedMs: timesOf === "writes" ? 0 : changedMs },
          nowMs,
        ),
      };
    });
  }

  /** Logs that the thing of a locked device was added, described anew or removed, if its type has a trait map. */
  async log(
    tx: Pick<Transaction, "deviceTypeMaps" | "log">,
    device: DeviceRow,
    what: "added" | "changed" | "gone",
    timeMs: number,
  ): Promise<void> {
    if (await this.mapOf(tx, device)) await tx.log.append(this.entry(device, what, timeMs));
  }

  async ofNewDevices(
    tx: Pick<Transaction, "deviceTypeMaps">,
    tenantId: TenantId,
    devices: readonly NewDeviceValues[],
    nowMs: number,
  ): Promise<readonly (NewOwnThing | undefined)[]> {
    const versions = await tx.deviceTypeMaps.versionsOf(tenantId);
    const maps = new Map<number, TraitMap>();
    for (const typeId of new Set(devices.map((device) => device.typeId))) {
      const mapChangedMs = versions.get(typeId);
      const found = mapChangedMs !== undefined && (await this.maps.of(tx, { tenantId, typeId, mapChangedMs }));
      if (found) maps.set(typeId, found.map);
    }
    return devices.map(({ id, typeId, changes }) => {
      const map = maps.get(typeId);
      if (!map) return undefined;
      const thingId = this.ids.thingIdOf(id);
      const values = new Map(changes.map(({ key, value }) => [key as string, value] as const));
      const fields = ownFieldChanges(map, new Map(), values, isSilent(map, 0, nowMs));
      const sounds = ownSounds(map, values);
      return { thingId, sounds, first: fields.length === 0 ? undefined : { thingId, what: "state", fields } };
    });
  }

  /** The entry that says what became of a device's thing. */
  entry({ id, userId }: Pick<DeviceRow, "id" | "userId">, what: ThingChange["what"], timeMs: number): LogEntry {
    const change = { thingId: this.ids.thingIdOf(id), what, fields: [] };
    return thingEntry(userId, id, timeMs, [change], { by: "administrator" });
  }

  async silenced(
    tx: Pick<Transaction, "deviceTypeMaps">,
    device: DeviceRow,
    nowMs: number,
  ): Promise<OwnSilence | undefined> {
    const found = await this.mapOf(tx, device);
    const { id, silentMs } = device;
    const lastTimeMs = lastHeardMs(device);
    const isLogged = typeof silentMs === "number" && silentMs >= lastTimeMs;
    if (!found || lastTimeMs === 0 || isLogged || !isSilent(found.map, lastTimeMs, nowMs)) return undefined;
    const { fields, sinceMs } = ownSilence(found.map, { lastTimeMs, mapChangedMs: found.changedMs });
    return { change: { thingId: this.ids.thingIdOf(id), what: "state", fields }, timeMs: sinceMs };
  }
}

const alarmTraits = ["smoke", "carbonMonoxide"] as const;

/** True if the attribute holds the state of a smoke or CO sensor. */
function isAlarmState(map: TraitMap, key: AttributeKey): boolean {
  return alarmTraits.some((trait) => attributeSource(map, trait, "state")?.attribute === key);
}

/** True while a smoke or CO sensor reports a warning or an alarm. */
function ownSounds(map: TraitMap, values: AttributeTexts): boolean {
  return alarmTraits.some((trait) => {
    const source = attributeSource(map, trait, "state");
    if (!source) return false;
    const state = readMapped(source.format, traits[trait].fields.state!.value, values.get(source.attribute) ?? null);
    return state === "alarm" || state === "warning";
  });
}
