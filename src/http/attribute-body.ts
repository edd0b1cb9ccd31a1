import { type AttributeWrite, theValueOf } from "../devices/write.ts";
import { BadParameter } from "../model/errors.ts";
import type { Body } from "./incoming.ts";
import { refusals } from "./refusal.ts";

/** The body of an update: one flat JSON object of attribute names and values. Which names there are, others know. */
export function readWrites(body: Body): readonly AttributeWrite[] {
  if (body.kind === "form") throw refusals.wrongContentType();
  const members = body.kind === "json" ? membersOf(body.value) : [];
  if (members.length === 0) throw refused("The body must be a JSON object with at least one attribute and its value.");
  return members.map(([name, value]) => ({ name, value: textOf(name, value) }));
}

function membersOf(value: unknown): readonly [string, unknown][] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

/** Values are kept as text, numbers as JSON writes them. */
function textOf(name: string, value: unknown): string | null {
  if (value === null || typeof value === "string") return value;
  if (typeof value === "boolean" || Number.isFinite(value)) return JSON.stringify(value);
  throw refused(`${theValueOf(name)} must be a string, a number, true, false or null.`);
}

function refused(sentence: string): BadParameter {
  return new BadParameter("body", sentence);
}
