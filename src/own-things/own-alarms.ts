import type { AttributeChange } from "../devices/commit.ts";
import { traits } from "../home/catalogue.ts";
import { readMapped } from "../home/mapped-value.ts";
import { attributeSource, type TraitMap } from "../home/trait-map.ts";
import type { TenantId } from "../model/ids.ts";
import type { Store } from "../store/seam.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { OwnThings, OwnThingTables } from "./own-things.ts";

export interface OwnAlarmParts {
  readonly store: Store<OwnThingTables>;
  readonly ownThings: OwnThings;
  readonly elapsedMs: () => number;
}

/** A write to a device. The row must hold `tenantId` and `mapChangedMs`, which not every statement reads. */
export interface AlarmWrite {
  readonly device: DeviceRow;
  readonly changes: readonly AttributeChange[];
}

/** The number of urgent transactions that one tenant may have in a second on one node. Further ones have ordinary priority. */
const urgentPerSecond = 50;

/**
 * Finds the writes that change a smoke or CO alarm of an own device to any other state than clear. Their commits are
 * urgent. Repeating a state is not urgent: a client could otherwise delay everyone by writing it again and again.
 */
export class OwnAlarms {
  readonly #parts: OwnAlarmParts;
  /** Urgent transactions of each tenant in the current second. */
  readonly #counts = new Map<TenantId, number>();
  #secondBeganMs = Number.NEGATIVE_INFINITY;

  constructor(parts: OwnAlarmParts) {
    this.#parts = parts;
  }

  /** Whether this write starts an alarm. */
  async startsAlarm(write: AlarmWrite): Promise<boolean> {
    return (await this.alarmIndexes([write])).length > 0;
  }

  /** The indexes of the writes that start an alarm, ascending. */
  async alarmIndexes(writes: readonly AlarmWrite[]): Promise<readonly number[]> {
    const mapped = writes.flatMap((write, index) =>
      typeof write.device.mapChangedMs === "number" ? [{ ...write, index }] : [],
    );
    if (mapped.length === 0) return [];
    return this.#parts.store.read(async (tx) => {
      const dangers: { readonly index: number; readonly device: DeviceRow; readonly change: AttributeChange }[] = [];
      for (const { index, device, changes } of mapped) {
        const found = await this.#parts.ownThings.mapOf(tx, device);
        if (!found) continue;
        for (const change of changes) if (isNotClear(found.map, change)) dangers.push({ index, device, change });
      }
      if (dangers.length === 0) return [];
      const names = [...new Set(dangers.map(({ change }) => String(change.key)))];
      const devices = [...new Map(dangers.map(({ device }) => [device.id, device])).values()];
      const stored = await tx.mappedDevices.attributes(devices, names);
      const present = new Map(stored.map(({ deviceId, name, value }) => [`${deviceId} ${name}`, value]));
      const isNew = ({ device, change }: (typeof dangers)[number]) =>
        (present.get(`${device.id} ${change.key}`) ?? null) !== change.value;
      return [...new Set(dangers.filter(isNew).map(({ index }) => index))];
    });
  }

  /** Whether one of these new devices has an alarm that is not clear. A device without a value has no alarm. */
  async hasAlarm(
    tenantId: TenantId,
    devices: readonly { readonly typeName: string; readonly changes?: readonly AttributeChange[] }[],
  ): Promise<boolean> {
    const { store, ownThings } = this.#parts;
    const byType = Map.groupBy(devices, ({ typeName }) => typeName);
    const written = [...byType]
      .map(([typeName, ofType]) => ({ typeName, changes: ofType.flatMap(({ changes = [] }) => changes) }))
      .filter(({ changes }) => changes.length > 0);
    if (written.length === 0) return false;
    return store.read(async (tx) => {
      for (const { typeName, changes } of written) {
        const row = await tx.deviceTypeMaps.byName(tenantId, typeName);
        const map = row && ownThings.maps.read(row)?.map;
        if (map && changes.some((change) => change.value !== null && isNotClear(map, change))) return true;
      }
      return false;
    });
  }

  /** Whether the tenant may have one more urgent transaction now. */
  admits(tenantId: TenantId): boolean {
    const nowMs = this.#parts.elapsedMs();
    if (nowMs - this.#secondBeganMs >= 1_000) {
      this.#counts.clear();
      this.#secondBeganMs = nowMs;
    }
    const count = (this.#counts.get(tenantId) ?? 0) + 1;
    this.#counts.set(tenantId, count);
    return count <= urgentPerSecond;
  }
}

/** Whether the change writes the state of an alarm, and any other than clear: an unknown word or no value too. */
function isNotClear(map: TraitMap, { key, value }: AttributeChange): boolean {
  return (["smoke", "carbonMonoxide"] as const).some((trait) => {
    const source = attributeSource(map, trait, "state");
    return source?.attribute === key && readMapped(source.format, traits[trait].fields.state!.value, value) !== "clear";
  });
}
