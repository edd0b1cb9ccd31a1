import type { JsonObject } from "../home/json.ts";
import { badArgument } from "../refusal.ts";

/** A whole number; required if there is no default. */
export function readWhole(
  args: JsonObject,
  argument: string,
  defaultValue: number | undefined,
  min: number,
  max: number,
): number {
  const value = args[argument] ?? defaultValue;
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
    throw badArgument(`${argument} must be a whole number from ${min} to ${max}.`);
  }
  return value;
}

export function readChoice<Choice extends string>(
  args: JsonObject,
  argument: string,
  choices: readonly Choice[],
  defaultValue: Choice,
): Choice {
  const value = args[argument] ?? defaultValue;
  const choice = choices.find((known) => known === value);
  if (choice === undefined) throw badArgument(`${argument} must be one of: ${choices.join(", ")}.`);
  return choice;
}

export function readBoolean(args: JsonObject, argument: string): boolean {
  const value = args[argument] ?? false;
  if (typeof value !== "boolean") throw badArgument(`${argument} must be true or false.`);
  return value;
}

export function readText(args: JsonObject, argument: string, defaultValue: string): string {
  const value = args[argument] ?? defaultValue;
  if (typeof value !== "string" || value.length > 1000) {
    throw badArgument(`${argument} must be a text of at most 1000 characters.`);
  }
  return value;
}

/** The prefix of a redirect address; `host:port` means plain HTTP. */
export function readHost(args: JsonObject): string {
  const { host } = args;
  const address = typeof host === "string" && /^https?:\/\//i.test(host) ? host : `http://${String(host)}`;
  if (typeof host !== "string" || host === "" || !URL.canParse(address)) {
    throw badArgument("host must be a host with or without a port, or an http address.");
  }
  const { origin, pathname } = new URL(address);
  return origin + pathname.replace(/\/+$/, "");
}
