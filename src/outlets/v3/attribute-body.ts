import type { DeviceState } from "../../devices/states.ts";
import { type AttributeWrite, valueSubject } from "../../devices/write.ts";
import { refusals } from "../../http/answer/refusal.ts";
import { jsonBody } from "../../http/request/body-types.ts";
import type { Body } from "../../http/request/incoming.ts";
import { BadParameter } from "../../model/errors.ts";

/** Parses the body of an update: one flat JSON object of attribute names and values. The names are checked later. */
export function readWrites(body: Body): readonly AttributeWrite[] {
  if (body.kind === "form") throw refusals.wrongContentType(jsonBody);
  const writes = body.kind === "json" && isObject(body.value) ? writesOf(body.value) : [];
  if (writes.length === 0) throw refused("The body must be a JSON object with at least one attribute and its value.");
  return writes;
}

/** The writes that an object of attribute names and values stands for; none if it is empty. */
export function writesOf(attributes: Readonly<Record<string, unknown>>): readonly AttributeWrite[] {
  return Object.entries(attributes).map(([name, value]) => ({ name, value: textOf(name, value) }));
}

/**
 * Whether the body is `{"name": …, "value": …}`: most likely a client that means one attribute with that name and value.
 */
export function looksLikePair(writes: readonly AttributeWrite[]): boolean {
  return writes.length === 2 && ["name", "value"].every((member) => writes.some(({ name }) => name === member));
}

/** Refuses such a body unless the device has an attribute `name` or `value`, possibly erased. */
export function refusePair({ attributes }: DeviceState): void {
  if (attributes.has("name") || attributes.has("value")) return;
  throw refused(
    'The body must name each attribute by its own name: {"<attribute>": <value>}, not {"name": …, "value": …}. To write two attributes that are called name and value, write them one after the other.',
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Values are stored as text, numbers as JSON writes them. */
function textOf(name: string, value: unknown): string | null {
  if (value === null || typeof value === "string") return value;
  if (typeof value === "boolean" || Number.isFinite(value)) return JSON.stringify(value);
  throw refused(`${valueSubject(name)} must be a string, a number, true, false or null.`);
}

function refused(sentence: string): BadParameter {
  return new BadParameter("body", sentence);
}
