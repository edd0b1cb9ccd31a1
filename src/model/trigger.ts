import type { Condition } from "./condition.ts";
import type { DeviceId } from "./ids.ts";
import type { Target } from "./trigger-targets.ts";

/** What an alert watches and what it does, as its owner defined it (interface 4.4). */
export interface TriggerDefinition {
  readonly deviceId: DeviceId;
  /** As the client spelled it. */
  readonly attributeName: string;
  readonly condition: Condition;
  /** `attribute` writes to the targets; whatever else is told to those who listen for events. */
  readonly action: string;
  readonly targets: readonly Target[];
  readonly address: string;
  readonly message: string;
  readonly autoDisarm: boolean;
  readonly autoDelete: boolean;
  readonly autoDisable: boolean;
}

export const writingAction = "attribute";

/** An alert that fired with `autoDisarm` is disarmed until its condition has been false; without it, it is always armed. */
export type Arming = Pick<TriggerDefinition, "autoDisarm" | "autoDelete" | "autoDisable"> & {
  readonly isArmed: boolean;
};

/**
 * What an event did to an enabled alert. `fired`. `ignored`: its condition is true, but it fired before and has not been
 * false since. `rearmed`: the condition is false, and the next true event fires. `unmet`: false, as it was.
 */
export type Outcome = "fired" | "ignored" | "rearmed" | "unmet";

export interface Step {
  readonly outcome: Outcome;
  readonly isArmed: boolean;
  readonly fate: "stays" | "disabled" | "deleted";
}

/** One event for an enabled alert: the whole rule of when it fires, for the live engine and for dry runs alike. */
export function stepTrigger({ autoDisarm, autoDelete, autoDisable, isArmed }: Arming, isTrue: boolean): Step {
  if (!isTrue) return { outcome: isArmed ? "unmet" : "rearmed", isArmed: true, fate: "stays" };
  if (autoDisarm && !isArmed) return { outcome: "ignored", isArmed: false, fate: "stays" };
  return {
    outcome: "fired",
    isArmed: !autoDisarm,
    fate: autoDelete ? "deleted" : autoDisable ? "disabled" : "stays",
  };
}

/** One event as an alert saw it. It explains why the alert fired, or why not. */
export interface Evaluation {
  readonly timeMs: number;
  /** Long values and notes are cut. */
  readonly value: string | null;
  readonly outcome: Outcome | "stopped";
  /** What more there is to say: a limit, a target that is gone. */
  readonly note?: string;
}

export const evaluationsKept = 50;

/** Two records of the same alert as one: what memory has seen since the stored one was written comes after it. */
export function joinRecords(stored: readonly Evaluation[], later: readonly Evaluation[]): readonly Evaluation[] {
  const storedUntilMs = stored.at(-1)?.timeMs ?? 0;
  return withinRecord([...stored, ...later.filter(({ timeMs }) => timeMs > storedUntilMs)]);
}

/** A record is written whole each time its alert fires. */
const recordBytes = 8_192;

/** The newest evaluations that one record holds. */
export function withinRecord(evaluations: readonly Evaluation[]): readonly Evaluation[] {
  let left = recordBytes;
  let first = evaluations.length;
  while (first > 0 && evaluations.length - first < evaluationsKept) {
    left -= mostBytes(evaluations[first - 1]!);
    if (left < 0) break;
    first -= 1;
  }
  return evaluations.slice(first);
}

/** At least as many bytes as the evaluation takes in JSON: three for each character, and its field names. */
function mostBytes({ value, note }: Evaluation): number {
  return 80 + 3 * ((value?.length ?? 0) + (note?.length ?? 0));
}

const longestShown = 100;

/** A value as a record shows it. */
export function shownValue(value: string | null): string | null {
  return value === null ? null : shownText(value);
}

/** A note as a record shows it. */
export function shownText(text: string): string {
  if (text.length <= longestShown) return text;
  // Joined anew: a slice would keep the whole text in memory for as long as the record is held.
  return [...text.slice(0, longestShown).toWellFormed(), "…"].join("");
}
