import { mayWrite, type Permissions } from "../clients/permissions.ts";
import type { AccountDocument, Structure, Thermostat } from "../home/account-document.ts";
import { changeStructure, changeThermostat } from "../home/edits.ts";
import { entryOf } from "../home/element.ts";
import { startFan, stopFan } from "../home/fan-timer.ts";
import { isJsonObject, type Json, type JsonObject } from "../home/json.ts";
import { EcosystemError, elementNotFound, invalidContent, noWritePermission } from "./ecosystem-error.ts";
import { decideSettings, writableFields } from "./thermostat-settings.ts";

/** The change that a valid write makes to the document. */
export type Write = (document: AccountDocument) => AccountDocument;

/** A parsed write of a client. */
export type Command =
  | { readonly kind: "thermostat"; readonly thermostat: Thermostat; readonly fields: JsonObject }
  | { readonly kind: "away"; readonly structure: Structure; readonly away: "home" | "away" };

/**
 * Parses a PUT of an object or of one field. Writable, with the permission, are a thermostat's fan, temperatures, mode
 * and label, and a structure's away. Refusals have the ecosystem's published text if there is one.
 */
export function readCommand(
  document: AccountDocument | undefined,
  permissions: Permissions,
  segments: readonly string[],
  body: Json,
): Command {
  const [root, kind] = segments;
  if (root === "structures" && isDepth(segments, 2)) {
    const fields = readFields(body, segments[2], mayWrite(permissions, "away") ? ["away"] : []);
    const structure = entryOf(document?.structures, segments[1]!) ?? refuseMissing();
    const { away } = fields;
    if (away !== "home" && away !== "away") throw invalidContent();
    return { kind: "away", structure, away };
  }
  if (root === "devices" && kind === "thermostats" && isDepth(segments, 3)) {
    const fields = readFields(body, segments[3], mayWrite(permissions, "thermostat") ? writableFields : []);
    const thermostat = entryOf(document?.devices?.thermostats, segments[2]!) ?? refuseMissing();
    const isActive = fields.fan_timer_active;
    if (isActive !== undefined && typeof isActive !== "boolean") throw invalidContent();
    return { kind: "thermostat", thermostat, fields };
  }
  throw noWritePermission([segments.at(-1) ?? "/"]);
}

/** Checks whether a command can be carried out in the current state of the home. */
export function decideWrite(document: AccountDocument, command: Command, nowMs: number): Write {
  if (command.kind === "thermostat") return decideThermostat(document, command.thermostat, command.fields, nowMs);
  const { structure, away } = command;
  return (current) => changeStructure(current, structure.structure_id, { away });
}

/** The id of the device or structure that a command is for. */
export function targetOf(command: Command): string {
  return command.kind === "thermostat" ? command.thermostat.device_id : command.structure.structure_id;
}

/** Whether a command starts a fan (true) or stops it (false); undefined for any other command. */
export function fanOf(command: Command): boolean | undefined {
  return command.kind === "thermostat" ? (command.fields.fan_timer_active as boolean | undefined) : undefined;
}

/** Applies settings before the fan, so that a duration in the same write applies to the fan that it starts. */
function decideThermostat(document: AccountDocument, thermostat: Thermostat, fields: JsonObject, nowMs: number): Write {
  if (!thermostat.is_online) throw new EcosystemError(400, "Thermostat is not online", "not-online");
  const settings = decideSettings(document, thermostat, fields);
  const isActive = fields.fan_timer_active as boolean | undefined;
  const runFan = isActive === undefined ? undefined : decideFan(document, thermostat, isActive, nowMs);
  return (current) => {
    const set = changeThermostat(current, thermostat.device_id, settings);
    return runFan ? runFan(set) : set;
  };
}

function decideFan(document: AccountDocument, thermostat: Thermostat, isActive: boolean, nowMs: number): Write {
  if (!thermostat.has_fan) throw new EcosystemError(400, "Thermostat does not have a fan");
  const structure = entryOf(document.structures, thermostat.structure_id);
  if (structure?.away !== "home") {
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

/** Checks permissions before everything else, so that a client learns nothing about objects that it may not see. */
function readFields(body: Json, field: string | undefined, writable: readonly string[]): JsonObject {
  const fields = field === undefined ? body : { [field]: body };
  if (!isJsonObject(fields) || Object.keys(fields).length === 0) throw invalidContent();
  const forbidden = Object.keys(fields).filter((name) => !writable.includes(name));
  if (forbidden.length > 0) throw noWritePermission(forbidden);
  return fields;
}

/** Whether the path names an object at this depth or one of its fields. */
function isDepth(segments: readonly string[], depth: number): boolean {
  return segments.length === depth || segments.length === depth + 1;
}

function refuseMissing(): never {
  throw elementNotFound();
}
