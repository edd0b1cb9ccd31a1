import type { AlertCommand } from "./alert-commands.ts";
import type { Condition } from "./condition.ts";
import type { DeviceId } from "./ids.ts";
import { textBytes } from "./text-bytes.ts";
import type { Target } from "./trigger-targets.ts";

/** When an alert fires and what it does, whatever it watches (docs/interface.md, Alerts). */
export interface AlertRule {
  readonly condition: Condition;
  /** `attribute` writes to the targets; any other action is only sent as an event. */
  readonly action: string;
  readonly targets: readonly Target[];
  /** Sent at each firing, whatever the action is. */
  readonly commands: readonly AlertCommand[];
  readonly address: string;
  readonly message: string;
  readonly autoDisarm: boolean;
  readonly autoDelete: boolean;
  readonly autoDisable: boolean;
}

/** An alert on an attribute, as its owner defined it. */
export interface TriggerDefinition extends AlertRule {
  readonly deviceId: DeviceId;
  /** As the client spelled it. */
  readonly attributeName: string;
}

/** An alert on a field of a thing, as its owner defined it. */
export interface ThingTriggerDefinition extends AlertRule {
  /** The virtual device that reports the thing. */
  readonly deviceId: DeviceId;
  readonly thingId: string;
  /** As `trait.field`. */
  readonly field: string;
}

export const writingAction = "attribute";
/** The action of an alert that only commands. It sends an event, as any other word does. */
export const commandingAction = "command";

type MeasuredDefinition = Measured<TriggerDefinition> | Measured<ThingTriggerDefinition>;
type Measured<Definition extends AlertRule> = Omit<Definition, "commands"> & Partial<Pick<Definition, "commands">>;

/** The size of a definition: all its texts in UTF-8. For alerts on attributes the store counts the same (store/tables/triggers.ts). */
export function bytesOf(definition: MeasuredDefinition): number {
  const { condition, action, targets, commands = [], address, message } = definition;
  const watched = "thingId" in definition ? [definition.thingId, definition.field] : [definition.attributeName];
  const texts = [...watched, JSON.stringify(condition), action, JSON.stringify(targets), address, message];
  if (commands.length > 0) texts.push(JSON.stringify(commands));
  return texts.reduce((sum, text) => sum + textBytes(text), 0);
}

/** An alert that fired with `autoDisarm` is disarmed until its condition has been false; without it, it is always armed. */
export type Arming = Pick<AlertRule, "autoDisarm" | "autoDelete" | "autoDisable"> & {
  readonly isArmed: boolean;
};

/**
 * The effect of an event on an enabled alert. `fired`: it fired. `ignored`: the condition is true, but the alert fired
 * before and the condition has not been false since. `rearmed`: the condition is false again, so the next true event
 * fires. `unmet`: the condition is still false.
 */
export type Outcome = "fired" | "ignored" | "rearmed" | "unmet";

export interface Step {
  readonly outcome: Outcome;
  readonly isArmed: boolean;
  readonly fate: "stays" | "disabled" | "deleted";
}

/**
 * Applies one event to an enabled alert. This is the whole rule of firing, shared by the live engine and by dry runs.
 */
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
  /** More detail: a limit that was reached, a target device that was removed. */
  readonly note?: string;
}

export const evaluationsKept = 50;

/** Merges two records of one alert: evaluations in memory that are newer than the stored record follow it. */
export function mergeRecords(stored: readonly Evaluation[], later: readonly Evaluation[]): readonly Evaluation[] {
  const storedUntilMs = stored.at(-1)?.timeMs ?? 0;
  return newestInRecord([...stored, ...later.filter(({ timeMs }) => timeMs > storedUntilMs)]);
}

/** Maximum size of a record. It is rewritten as a whole each time its alert fires. */
const recordBytes = 8_192;

/** The newest evaluations that fit into one record. */
export function newestInRecord(evaluations: readonly Evaluation[]): readonly Evaluation[] {
  let left = recordBytes;
  let first = evaluations.length;
  while (first > 0 && evaluations.length - first < evaluationsKept) {
    left -= maximalBytes(evaluations[first - 1]!);
    if (left < 0) break;
    first -= 1;
  }
  return evaluations.slice(first);
}

/** Upper bound of an evaluation's bytes in JSON: three for each character, plus its field names. */
function maximalBytes({ value, note }: Evaluation): number {
  return 80 + 3 * ((value?.length ?? 0) + (note?.length ?? 0));
}

const maximalCharacters = 100;

export function truncateValue(value: string | null): string | null {
  return value === null ? null : truncateText(value);
}

/** Cuts a value or note to the length that a record shows. */
export function truncateText(text: string): string {
  if (text.length <= maximalCharacters) return text;
  // Copied character by character: a slice would keep the whole text in memory as long as the record is held.
  return [...text.slice(0, maximalCharacters).toWellFormed(), "…"].join("");
}
