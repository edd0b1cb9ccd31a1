import type { CommandError } from "./command-errors.ts";
import type { CommandDefinition, Parameter, ParameterType } from "./trait.ts";

/** The parameters of a command, or what is wrong with the first wrong one. */
export function readParameters(
  { parameters }: CommandDefinition,
  params: unknown = {},
): { readonly params: Readonly<Record<string, unknown>> } | CommandError {
  if (!isRecord(params)) return { code: "badValue", parameter: "params", problem: "must be an object" };
  for (const parameter of Object.keys(params)) {
    if (!Object.hasOwn(parameters, parameter)) return { code: "badValue", parameter, problem: "is unknown" };
  }
  const checked: Record<string, unknown> = {};
  for (const [parameter, definition] of Object.entries(parameters)) {
    const value = params[parameter];
    const problem = problemOf(definition, value);
    if (problem !== undefined) return { code: "badValue", parameter, problem };
    if (value !== undefined) checked[parameter] = value;
  }
  return { params: checked };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function problemOf({ value: type, isOptional }: Parameter, value: unknown): string | undefined {
  if (value === undefined) return isOptional ? undefined : "is missing";
  return hasType(type, value) ? undefined : `must be ${typeText(type)}`;
}

/** Ranges are checked by the rules of each trait, because a value slightly outside its range is clamped. */
function hasType(type: ParameterType, value: unknown): boolean {
  if (type.type === "boolean") return typeof value === "boolean";
  if (type.type === "number") return Number.isFinite(value);
  return typeof value === "string" && (type.type === "text" || type.values.includes(value));
}

function typeText(type: ParameterType): string {
  if (type.type === "boolean") return "true or false";
  if (type.type === "number") return "a number";
  return type.type === "text" ? "a text" : `one of: ${type.values.join(", ")}`;
}
