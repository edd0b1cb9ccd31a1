import type { Period, ThingTriggerInput, TriggerInput } from "../../alerts/alerts.ts";
import { refusals } from "../../http/answer/refusal.ts";
import { jsonBody } from "../../http/request/body-types.ts";
import type { Body } from "../../http/request/incoming.ts";
import { BadParameter, UnknownDevice } from "../../model/errors.ts";
import { type DeviceId, parseId } from "../../model/ids.ts";
import { commandingAction } from "../../model/trigger.ts";
import type { Target } from "../../model/trigger-targets.ts";
import { alertCommandsOf } from "./alert-command-body.ts";

const texts = ["attrName", "field", "operation", "stringThreshold", "action", "address", "msg"] as const;
const switches = ["autoDisarm", "autoDelete", "autoDisable", "enable"] as const;
const definitionNames: readonly string[] = [
  "deviceId",
  "thingId",
  "threshold",
  "targets",
  "commands",
  ...texts,
  ...switches,
];

/** An alert on an attribute, or on a field of a thing. */
export type AlertInput = TriggerInput | ThingTriggerInput;

/**
 * Parses the definition of an alert: one JSON object. An unknown member is refused, because it is probably a mistake.
 */
export function readAlert(body: Body): AlertInput {
  return definitionOf(membersOf(body, definitionNames));
}

/** Parses a definition with the period of history to test it on; without one, all history. */
export function readDryRun(body: Body): { readonly input: AlertInput; readonly period: Period } {
  const members = membersOf(body, [...definitionNames, "from", "to"]);
  const period = { afterMs: timeOf(members, "from", 0), untilMs: timeOf(members, "to", Number.MAX_SAFE_INTEGER) };
  return { input: definitionOf(members), period };
}

type Members = ReadonlyMap<string, unknown>;

function definitionOf(members: Members): AlertInput {
  const text = Object.fromEntries(texts.map((name) => [name, textOf(members, name)])) as Record<Text, string>;
  const isOn = Object.fromEntries(switches.map((name) => [name, switchOf(members, name)])) as Record<Switch, boolean>;
  const targets = targetsOf(members.get("targets") ?? []);
  const commands = alertCommandsOf(members.get("commands") ?? []);
  const isCommanding = commands.length > 0 && targets.length === 0;
  return {
    ...watchedOf(members, text),
    operation: text.operation,
    threshold: thresholdOf(members.get("threshold")),
    stringThreshold: text.stringThreshold,
    action: text.action === "" && isCommanding ? commandingAction : text.action,
    targets,
    commands,
    address: text.address,
    message: text.msg,
    autoDisarm: isOn.autoDisarm,
    autoDelete: isOn.autoDelete,
    autoDisable: isOn.autoDisable,
    isEnabled: isOn.enable,
  };
}

const ofAttribute = ["deviceId", "attrName"];
const ofThing = ["thingId", "field"];

/** What the alert watches. */
function watchedOf(members: Members, { attrName, field }: Record<Text, string>) {
  if (!ofThing.some((name) => members.has(name))) {
    return { deviceId: deviceIdOf(members.get("deviceId")), attributeName: attrName };
  }
  if (ofAttribute.some((name) => members.has(name))) {
    throw refused(
      "thingId",
      "An alert watches an attribute, with deviceId and attrName, or a thing, with thingId and field: not both.",
    );
  }
  const thingId = members.get("thingId");
  if (typeof thingId !== "string") throw refused("thingId", "The member thingId must be a thing's id, a string.");
  return { thingId, field };
}

type Text = (typeof texts)[number];
type Switch = (typeof switches)[number];

function membersOf(body: Body, known: readonly string[]): Members {
  if (body.kind === "form") throw refusals.wrongContentType(jsonBody);
  const members = new Map(objectOf(body.kind === "json" ? body.value : undefined, "The body"));
  if ([...members.keys()].some((name) => !known.includes(name))) {
    throw refused("body", `The body may have these members: ${known.join(", ")}.`);
  }
  return members;
}

function objectOf(value: unknown, what: string): readonly [string, unknown][] {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return Object.entries(value);
  throw refused("body", `${what} must be a JSON object.`);
}

function textOf(members: Members, name: Text): string {
  const value = members.get(name) ?? "";
  if (typeof value !== "string") throw refused(name, `The member ${name} must be a string.`);
  return value;
}

/** Omitted switches are off, except `enable`. */
function switchOf(members: Members, name: Switch): boolean {
  const value = members.get(name) ?? name === "enable";
  if (typeof value !== "boolean") throw refused(name, `The member ${name} must be true or false.`);
  return value;
}

function thresholdOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "number") throw refused("threshold", "The member threshold must be a number.");
  return String(value);
}

function deviceIdOf(value: unknown): DeviceId {
  if (typeof value !== "number") throw refused("deviceId", "The member deviceId must be a device's id, a number.");
  const deviceId = parseId<DeviceId>(String(value));
  if (deviceId === undefined) throw new UnknownDevice();
  return deviceId;
}

function targetsOf(value: unknown): readonly Target[] {
  if (!Array.isArray(value)) throw refused("targets", "The member targets must be a list.");
  return value.map((one) => {
    const target = new Map(objectOf(one, "Each of targets"));
    const [attributeName, written] = [target.get("attrName"), target.get("value")];
    if (target.size !== 3 || typeof attributeName !== "string") {
      throw refused("targets", "Each of targets must have the members deviceId, attrName and value.");
    }
    return { deviceId: deviceIdOf(target.get("deviceId")), attributeName, value: targetValue(written) };
  });
}

/** Values are stored as text, and null erases. */
function targetValue(value: unknown): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || Number.isFinite(value)) return JSON.stringify(value);
  throw refused("targets", "The value of a target must be a string, a number, true, false or null.");
}

function timeOf(members: Members, name: "from" | "to", otherwise: number): number {
  const value = members.get(name) ?? otherwise;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw refused(name, `The member ${name} must be a time in milliseconds: a non-negative integer.`);
}

function refused(parameter: string, sentence: string): BadParameter {
  return new BadParameter(parameter, sentence);
}
