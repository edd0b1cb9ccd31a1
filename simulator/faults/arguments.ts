import type { JsonObject } from "../home/json.ts";
import { badArgument } from "../refusal.ts";

/** A whole number; one without a standard must be given. */
export function readWhole(
  given: JsonObject,
  argument: string,
  standard: number | undefined,
  least: number,
  most: number,
): number {
  const value = given[argument] ?? standard;
  if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most) {
    throw badArgument(`${argument} must be a whole number from ${least} to ${most}.`);
  }
  return value;
}

export function readChoice<Choice extends string>(
  given: JsonObject,
  argument: string,
  choices: readonly Choice[],
  standard: Choice,
): Choice {
  const value = given[argument] ?? standard;
  const choice = choices.find((known) => known === value);
  if (choice === undefined) throw badArgument(`${argument} must be one of: ${choices.join(", ")}.`);
  return choice;
}

export function readClaim(given: JsonObject, argument: string): boolean {
  const value = given[argument] ?? false;
  if (typeof value !== "boolean") throw badArgument(`${argument} must be true or false.`);
  return value;
}

export function readText(given: JsonObject, argument: string, standard: string): string {
  const value = given[argument] ?? standard;
  if (typeof value !== "string" || value.length > 1000) {
    throw badArgument(`${argument} must be a text of at most 1000 characters.`);
  }
  return value;
}

/** An address to go before a path: `host:port` stands for plain HTTP there. */
export function readHost(given: JsonObject): string {
  const { host } = given;
  const address = typeof host === "string" && /^https?:\/\//i.test(host) ? host : `http://${String(host)}`;
  if (typeof host !== "string" || host === "" || !URL.canParse(address)) {
    throw badArgument("host must be a host with or without a port, or an http address.");
  }
  const { origin, pathname } = new URL(address);
  return origin + pathname.replace(/\/+$/, "");
}
