import type { Home, Listing, ObjectReading, Structure } from "../../home/home.ts";
import type { Thing } from "../../home/thing.ts";
import type { Projection } from "../../runtime/json/projection.ts";
import { isJsonObject, type JsonObject } from "../../runtime/json/untrusted-json.ts";
import { maximalObjects } from "../kit/whole-home.ts";
import { type Counts, readAlarm, readStructure, readThermostat } from "./snapshot-objects.ts";

/** Far more than an account has: a device has about 60 values. */
const mostValues = 50_000;
/** What is read of the account document. Its `metadata` holds the token. */
export const accountProjection: Projection = {
  pick: { structures: { whole: mostValues }, devices: { whole: mostValues } },
};

/**
 * Parses the account document into a home. Unreadable parts are counted and don't affect the rest: an alarm beside
 * a malformed thermostat still gets through. The document itself is not kept, because its `metadata` holds the token.
 */
export function readSnapshot(document: unknown): Home {
  const counts = { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0 };
  if (!isJsonObject(document)) {
    counts.incomplete += 1;
    return {
      structures: unreadableListing,
      thermostats: unreadableListing,
      alarms: unreadableListing,
      speaksOfAlarms: false,
      oddities: counts,
    };
  }
  const structureObjects = objectsOf(document.structures, counts);
  // Permissions remove whole keys: without `devices`, only devices that the structures list are known.
  const devices = document.devices === undefined ? {} : document.devices;
  const thermostatObjects = deviceObjects(devices, "thermostats", counts);
  const alarmObjects = deviceObjects(devices, "smoke_co_alarms", counts);
  if (!isJsonObject(devices)) counts.incomplete += 1;
  return {
    structures: readStructures(structureObjects, counts),
    thermostats: readDevices(thermostatObjects, devicesListed(structureObjects, "thermostats"), readThermostat, counts),
    alarms: readDevices(alarmObjects, devicesListed(structureObjects, "smoke_co_alarms"), readAlarm, counts),
    speaksOfAlarms: [devices, ...Object.values(structureObjects ?? {})].some(speaksOfAlarms),
    oddities: counts,
  };
}

type DeviceKey = "thermostats" | "smoke_co_alarms";

/** An unreadable listing: no object is named, and none counts as gone. */
const unreadableListing: Listing<never> = { isWhole: false, byId: new Map() };

/** The objects by id; undefined when the value is not an object. */
function objectsOf(value: unknown, counts: Counts): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  counts.incomplete += 1;
  return undefined;
}

function deviceObjects(devices: unknown, key: DeviceKey, counts: Counts): JsonObject | undefined {
  if (!isJsonObject(devices)) return undefined;
  return Object.hasOwn(devices, key) ? objectsOf(devices[key], counts) : {};
}

function readStructures(objects: JsonObject | undefined, counts: Counts): Listing<Structure> {
  if (objects === undefined) return unreadableListing;
  const byId = new Map<string, ObjectReading<Structure>>();
  const ids = idsOf(objects, counts);
  for (const id of ids.taken) byId.set(id, readStructure(objects[id], counts));
  return { isWhole: ids.areAll, byId };
}

function readDevices(
  objects: JsonObject | undefined,
  listed: ReadonlyMap<string, string>,
  read: (value: unknown, listedIn: string | null, counts: Counts) => ObjectReading<Thing>,
  counts: Counts,
): Listing<Thing> {
  const byId = new Map<string, ObjectReading<Thing>>();
  // The key is the id: the member `device_id` may be missing, and two objects could have the same one.
  const ids = idsOf(objects ?? {}, counts);
  for (const id of ids.taken) byId.set(id, read(objects?.[id], listed.get(id) ?? null, counts));
  // A device that its structure lists but that has no object is treated like a malformed one.
  for (const [id, structureId] of listed) {
    if (byId.size < maximalObjects && !byId.has(id)) byId.set(id, read(undefined, structureId, counts));
  }
  return { isWhole: objects !== undefined && ids.areAll && listed.size <= maximalObjects, byId };
}

/** The first ids. The rest is left out, and the listing counts as incomplete: nothing is gone because of it. */
function idsOf(objects: JsonObject, counts: Counts): { readonly taken: readonly string[]; readonly areAll: boolean } {
  const ids = Object.keys(objects);
  const areAll = ids.length <= maximalObjects;
  if (!areAll) counts.incomplete += 1;
  return { taken: areAll ? ids : ids.slice(0, maximalObjects), areAll };
}

/** Which structure lists which device. If two structures list the same device, the first one counts. */
function devicesListed(structures: JsonObject | undefined, key: DeviceKey): ReadonlyMap<string, string> {
  const listed = new Map<string, string>();
  for (const structureId of Object.keys(structures ?? {}).slice(0, maximalObjects)) {
    const structure = structures?.[structureId];
    const ids = isJsonObject(structure) ? structure[key] : undefined;
    if (!Array.isArray(ids)) continue;
    for (const id of ids) if (typeof id === "string" && !listed.has(id)) listed.set(id, structureId);
  }
  return listed;
}

function speaksOfAlarms(value: unknown): boolean {
  return isJsonObject(value) && Object.hasOwn(value, "smoke_co_alarms");
}
