import { isJsonProblem } from "../home/json-check.ts";
import type { TraitMap } from "../home/trait-map.ts";
import { mapProblemText, readTraitMap } from "../home/trait-map-reading.ts";
import type { KeepAnswer, KeepTables } from "../idempotency/idempotent-writes.ts";
import { BadParameter, LimitReached, UnknownDeviceType } from "../model/errors.ts";
import type { TenantId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { textBytes } from "../model/text-bytes.ts";
import type { TraitMaps } from "../own-things/trait-maps.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { DeviceTypeMapRow } from "../store/tables/device-type-maps.ts";
import { checkTypeName } from "./new-device.ts";

/** A device type of a tenant with its trait map. */
export interface DeviceType {
  readonly name: string;
  /** The JSON document, as it was set. */
  readonly map: object;
  readonly changedMs: number;
}

/** The trait maps of a tenant's own device types. */
export interface DeviceTypes {
  /** Sets or replaces the map; throws BadParameter with the first mistake in it. The same map again changes nothing. */
  set(tenantId: TenantId, name: string, map: unknown, keep?: KeepAnswer<DeviceType>): Promise<DeviceType>;
  get(tenantId: TenantId, name: string): Promise<DeviceType>;
  /** Ascending by name. */
  list(tenantId: TenantId): Promise<readonly DeviceType[]>;
  /** Removes the map. Devices of the type stay; they are no longer things. */
  remove(tenantId: TenantId, name: string, keep?: KeepAnswer): Promise<void>;
}

type TypeTables = KeepTables & Pick<Transaction, "deviceTypeMaps" | "deviceTypeWork">;

export function deviceTypesOn(store: Store<TypeTables>, maps: Pick<TraitMaps, "forgetAll">): DeviceTypes {
  return {
    async set(tenantId, name, map, keep) {
      checkTypeName("type", name);
      checkMap(map);
      const text = JSON.stringify(map);
      if (textBytes(text) > limits.traitMapBytes) {
        throw new LimitReached(
          "traitMapBytes",
          `The trait map takes ${textBytes(text)} bytes and may take ${limits.traitMapBytes}. Nothing was changed. Leave out traits or words.`,
        );
      }
      return store.transaction(async (tx) => {
        const type = fromRow(await changedRow(tx, tenantId, name, text));
        await keep?.(tx, type);
        return type;
      });
    },
    async get(tenantId, name) {
      const row = await store.read((tx) => tx.deviceTypeMaps.byName(tenantId, name));
      if (!row) throw new UnknownDeviceType();
      return fromRow(row);
    },
    async list(tenantId) {
      const rows = await store.read((tx) => tx.deviceTypeMaps.ofTenant(tenantId));
      return rows.map(fromRow).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async remove(tenantId, name, keep) {
      await store.transaction(async (tx) => {
        await tx.deviceTypeMaps.lock(tenantId);
        const before = await tx.deviceTypeMaps.byName(tenantId, name);
        if (!before) throw new UnknownDeviceType();
        await tx.deviceTypeWork.begin(tenantId, before.typeId, "gone");
        await tx.deviceTypeMaps.remove(tenantId, name);
        await keep?.(tx);
      });
      // A map that is set in the same millisecond has the same time as the removed one.
      maps.forgetAll();
    },
  };
}

/** Sets the map, and returns its row. */
async function changedRow(tx: TypeTables, tenantId: TenantId, name: string, map: string): Promise<DeviceTypeMapRow> {
  const count = await tx.deviceTypeMaps.lock(tenantId);
  const before = await tx.deviceTypeMaps.byName(tenantId, name);
  if (!before && count >= limits.traitMapsPerTenant) {
    throw new LimitReached(
      "traitMapsPerTenant",
      `The tenant has ${count} device types with trait maps, and ${limits.traitMapsPerTenant} is the limit. Remove one first.`,
    );
  }
  // A new time would make every field of every thing look changed.
  if (before && canonical(JSON.parse(before.map)) === canonical(JSON.parse(map))) return before;
  await tx.deviceTypeMaps.put(tenantId, name, map, limits.deviceTypesPerTenant);
  const after = await tx.deviceTypeMaps.byName(tenantId, name);
  if (!after) {
    throw new LimitReached(
      "deviceTypesPerTenant",
      `The clients of this tenant have named ${limits.deviceTypesPerTenant} device types and may name no more. Use a type that exists.`,
    );
  }
  await tx.deviceTypeWork.begin(tenantId, after.typeId, before ? "changed" : "added");
  return after;
}

function checkMap(json: unknown): TraitMap {
  const map = readTraitMap(json);
  if (isJsonProblem(map)) throw new BadParameter("body", mapProblemText(map));
  return map;
}

function fromRow({ typeName, map, changedMs }: DeviceTypeMapRow): DeviceType {
  return { name: typeName, map: JSON.parse(map) as object, changedMs };
}

/** The same text for equal maps: the order of members means nothing. */
function canonical(map: unknown): string {
  return JSON.stringify(map, (_, value) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
