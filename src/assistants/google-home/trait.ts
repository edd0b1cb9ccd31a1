import type { CommandError } from "../../home/command-errors.ts";
import type { Command } from "../../home/command-plan.ts";
import type { CurrentThing } from "../current-thing.ts";

export type States = Readonly<Record<string, unknown>>;

/** A trait of a Google device: how Google is told about a thing, and which commands Google may send. */
export interface GoogleTrait {
  /** Without the prefix `action.devices.traits.`. */
  readonly name: string;
  /** The attributes in SYNC; undefined when the thing does not have the trait. */
  attributes(thing: CurrentThing): States | undefined;
  /**
   * Every state of the trait, because Home Graph replaces the whole trait. Undefined when the thing lacks a value that
   * the trait needs: then the device is shown as offline.
   */
  states(thing: CurrentThing): States | undefined;
  /** Translates Google's commands, by name without the prefix `action.devices.commands.`. */
  readonly commands?: Readonly<Record<string, (params: States, thing: CurrentThing) => Command | CommandError>>;
}

export const traitPrefix = "action.devices.traits.";
export const typePrefix = "action.devices.types.";
export const commandPrefix = "action.devices.commands.";

/** Google's device types that we use, without the prefix. */
export type GoogleType =
  | "THERMOSTAT"
  | "SMOKE_DETECTOR"
  | "CARBON_MONOXIDE_DETECTOR"
  | "FAN"
  | "LIGHT"
  | "SWITCH"
  | "SENSOR";

export function badValue(parameter: string, problem: string): CommandError {
  return { code: "badValue", parameter, problem };
}

/** The difference for Google's weight, which a vague request has ("a bit more"): at least one step of the thing. */
export function vagueDifference(weight: number, perWeight: number, step: number): number {
  return Math.sign(weight) * Math.max(Math.abs(weight) * perWeight, step);
}
