import { BadParameter } from "../model/errors.ts";
import { type DeviceId, parseId, type TenantId, type TriggerId, type UserId } from "../model/ids.ts";

/** The input of a command, by the names of the options; it has passed through JSON. */
export type Input = Readonly<Record<string, unknown>>;

/** Undefined when the option was left out or is empty. */
export function optional(input: Input, name: string): string | undefined {
  const value = input[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function text(input: Input, name: string): string {
  const value = optional(input, name);
  if (value === undefined) throw new BadParameter(name, `--${name} is missing.`);
  return value;
}

/** An option that may be repeated. */
export function texts(input: Input, name: string): readonly string[] {
  const value = input[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

export function hasFlag(input: Input, name: string): boolean {
  return input[name] === true;
}

export function id<Id extends TenantId | UserId | DeviceId | TriggerId>(
  input: Input,
  name: string,
  shown = `--${name}`,
): Id {
  const parsed = parseId<Id>(text(input, name));
  if (parsed === undefined) throw new BadParameter(name, `${shown} must be a number from 1 to 2147483647.`);
  return parsed;
}

/** Ids in an option that may be repeated. */
export function ids<Id extends DeviceId>(input: Input, name: string): readonly Id[] {
  return texts(input, name).map((one) => id<Id>({ [name]: one }, name));
}

/** A number that may have a fraction, within limits. */
export function number(input: Input, name: string, from: number, to: number): number {
  const typed = text(input, name);
  const value = /^\d+(\.\d+)?$/.test(typed) ? Number(typed) : Number.NaN;
  if (!(value >= from && value <= to))
    throw new BadParameter(name, `--${name} must be a number from ${from} to ${to}.`);
  return value;
}
