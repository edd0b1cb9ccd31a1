import type { AccountDocument, Structure, Thermostat } from "../home/account-document.ts";
import { changeStructure } from "../home/edits.ts";
import { entryOf } from "../home/element.ts";
import { startFan, stopFan } from "../home/fan-timer.ts";
import { isJsonObject, type Json, type JsonObject } from "../home/json.ts";
import { EcosystemError, nothingThere, noWritePermission } from "./ecosystem-error.ts";

/** A write that was found in order: what the device will make of the document. */
export type Write = (document: AccountDocument) => AccountDocument;

/**
 * Decides on a PUT. An object and one of its fields can be written; the only fields with write permission are a
 * thermostat's fan_timer_active and a structure's away. Refusals are thrown in the ecosystem's words.
 */
export function decideWrite(
  document: AccountDocument | undefined,
  segments: readonly string[],
  body: Json,
  nowMs: number,
): Write {
  const target = findTarget(document ?? {}, segments);
  const fields = target.field === undefined ? body : { [target.field]: body };
  if (!isJsonObject(fields) || Object.keys(fields).length === 0) throw invalidContent();
  if (target.kind === "structure") return decideAway(target.structure, fields);
  return decideFan(document!, target.thermostat, fields, nowMs);
}

type Target = { readonly field: string | undefined } & (
  | { readonly kind: "thermostat"; readonly thermostat: Thermostat }
  | { readonly kind: "structure"; readonly structure: Structure }
);

function findTarget(document: AccountDocument, segments: readonly string[]): Target {
  const [root, ...below] = segments;
  if (root === "structures" && (below.length === 1 || below.length === 2)) {
    const structure = entryOf(document.structures, below[0]!);
    if (structure === undefined) throw nothingThere();
    return { kind: "structure", structure, field: below[1] };
  }
  if (root === "devices" && below[0] === "thermostats" && (below.length === 2 || below.length === 3)) {
    const thermostat = entryOf(document.devices?.thermostats, below[1]!);
    if (thermostat === undefined) throw nothingThere();
    return { kind: "thermostat", thermostat, field: below[2] };
  }
  throw noWritePermission([segments.at(-1) ?? "/"]);
}

function decideAway(structure: Structure, fields: JsonObject): Write {
  refuseOtherFields(fields, "away");
  const { away } = fields;
  if (away !== "home" && away !== "away") throw invalidContent();
  return (document) => changeStructure(document, structure.structure_id, { away });
}

function decideFan(document: AccountDocument, thermostat: Thermostat, fields: JsonObject, nowMs: number): Write {
  refuseOtherFields(fields, "fan_timer_active");
  const isActive = fields.fan_timer_active;
  if (typeof isActive !== "boolean") throw invalidContent();
  if (!thermostat.is_online) throw new EcosystemError(400, "Thermostat is not online", "not-online");
  if (!thermostat.has_fan) throw new EcosystemError(400, "Thermostat does not have a fan");
  const structure = entryOf(document.structures, thermostat.structure_id);
  if (structure?.away === "away" || structure?.away === "auto-away") {
    throw new EcosystemError(400, "Cannot change fan_timer_active while structure is away");
  }
  if (isActive && isInEmergency(document, structure)) {
    throw new EcosystemError(400, "Cannot activate fan during smoke/co safety shutoff", "safety-shutoff-on");
  }
  const id = thermostat.device_id;
  return (current) => (isActive ? startFan(current, id, nowMs) : stopFan(current, id));
}

function isInEmergency(document: AccountDocument, structure: Structure | undefined): boolean {
  const alarms = (structure?.smoke_co_alarms ?? []).map((id) => entryOf(document.devices?.smoke_co_alarms, id));
  return alarms.some((alarm) => alarm?.smoke_alarm_state === "emergency" || alarm?.co_alarm_state === "emergency");
}

function refuseOtherFields(fields: JsonObject, writable: string): void {
  const others = Object.keys(fields).filter((field) => field !== writable);
  if (others.length > 0) throw noWritePermission(others);
}

function invalidContent(): EcosystemError {
  return new EcosystemError(400, "Invalid content sent", "invalid-content-sent");
}
