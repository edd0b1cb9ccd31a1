import { isJsonObject, type Json, type JsonObject } from "../home/json.ts";
import { badArgument } from "../refusal.ts";

/** All permissions, each with its text on the consent page. */
export const permissionMeanings = {
  "thermostat:read": "See your thermostats",
  "thermostat:read-write": "See and set your thermostats and run their fans",
  "smoke-co-alarm:read": "See your smoke and CO alarms",
  "away:read": "See whether somebody is home",
  "away:read-write": "See and set whether somebody is home",
  "eta:read": "See when you are expected home",
  "energy:read": "See your energy programmes",
  "postal-code:read": "See your postal code",
  "security:read": "See whether your home is watched",
} as const;

export type Permission = keyof typeof permissionMeanings;
export type Permissions = readonly Permission[];

export const everything: Permissions = [
  "thermostat:read-write",
  "smoke-co-alarm:read",
  "away:read-write",
  "eta:read",
  "energy:read",
  "postal-code:read",
  "security:read",
];

type Subject = Permission extends `${infer Name}:${string}` ? Name : never;

/** Parses a list of permissions; no list means all. `read` is removed beside `read-write`, which includes it. */
export function readPermissions(value: Json | undefined): Permissions {
  if (value === undefined) return everything;
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string" && isPermission(name))) {
    throw badArgument(`permissions must be a list of: ${Object.keys(permissionMeanings).join(", ")}.`);
  }
  const requested = new Set(value as Permissions);
  if (requested.has("thermostat:read-write")) requested.delete("thermostat:read");
  if (requested.has("away:read-write")) requested.delete("away:read");
  return (Object.keys(permissionMeanings) as Permission[]).filter((permission) => requested.has(permission));
}

export function mayWrite(permissions: Permissions, subject: "thermostat" | "away"): boolean {
  return permissions.includes(`${subject}:read-write`);
}

/** What a client with these permissions sees of the document. A client with all permissions sees everything. */
export function visiblePart(permissions: Permissions, document: JsonObject): JsonObject {
  if (everything.every((permission) => permissions.includes(permission))) return document;
  const { devices, structures } = document;
  return {
    ...document,
    ...(isJsonObject(devices) && { devices: visibleDevices(permissions, devices) }),
    ...(isJsonObject(structures) && { structures: visibleStructures(permissions, structures) }),
  };
}

export function isSame(one: Permissions, other: Permissions): boolean {
  return one.length === other.length && one.every((permission) => other.includes(permission));
}

/** The keys of a structure that need one permission. `cameras` need all permissions; the other keys need none. */
const structureKeys: Readonly<Record<Subject, readonly string[]>> = {
  thermostat: ["thermostats"],
  "smoke-co-alarm": ["smoke_co_alarms", "smoke_alarm_state", "co_alarm_state"],
  away: ["away"],
  eta: ["eta", "eta_begin"],
  energy: ["peak_period_start_time", "peak_period_end_time", "rhr_enrollment"],
  "postal-code": ["postal_code"],
  security: ["wwn_security_state"],
};

/** No permission names the other kinds of devices: only a client with all permissions sees them. */
function visibleDevices(permissions: Permissions, devices: JsonObject): JsonObject {
  const open = new Set<string>();
  if (mayRead(permissions, "thermostat")) open.add("thermostats");
  if (mayRead(permissions, "smoke-co-alarm")) open.add("smoke_co_alarms");
  return Object.fromEntries(Object.entries(devices).filter(([kind]) => open.has(kind)));
}

function visibleStructures(permissions: Permissions, structures: JsonObject): JsonObject {
  const hiddenSubjects = (Object.keys(structureKeys) as Subject[]).filter((subject) => !mayRead(permissions, subject));
  const hidden = new Set([...hiddenSubjects.flatMap((subject) => structureKeys[subject]), "cameras"]);
  return Object.fromEntries(
    Object.entries(structures).map(([id, structure]) => [
      id,
      isJsonObject(structure)
        ? Object.fromEntries(Object.entries(structure).filter(([key]) => !hidden.has(key)))
        : structure,
    ]),
  );
}

function mayRead(permissions: Permissions, subject: Subject): boolean {
  return permissions.some((permission) => permission.startsWith(`${subject}:`));
}

function isPermission(name: string): name is Permission {
  return Object.hasOwn(permissionMeanings, name);
}
