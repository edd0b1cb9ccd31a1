import { type Field, flag, text } from "../trait.ts";

/** What a sensor of danger reports. `unknown`: the ecosystem used a word that Breezeway does not know. */
export const alarmStates = ["clear", "warning", "alarm", "unknown"] as const;

export type AlarmState = (typeof alarmStates)[number];

/** Whether an alarm has become a warning: the danger is less, and not over. */
export function hasEased(before: unknown, after: unknown): boolean {
  return before === "alarm" && after === "warning";
}

/** The fields of every sensor of danger. */
export const alarmFields = {
  state: {
    kind: "transition",
    value: { type: "enum", values: alarmStates },
    meaning: "What the sensor reports. A word that Breezeway does not know is `unknown`, and never `clear`.",
  },
  word: { kind: "transition", value: text, meaning: "The ecosystem's own word for the state." },
  testing: { kind: "transition", value: flag, meaning: "Whether somebody is testing the alarm." },
  fault: {
    kind: "transition",
    value: flag,
    meaning: "Whether the alarm says that it is broken. Its `clear` proves nothing then; an alarm still counts.",
  },
  endOfLife: { kind: "transition", value: flag, meaning: "Whether the alarm says that it must be replaced." },
  muted: { kind: "transition", value: flag, meaning: "Whether somebody has muted the alarm." },
} as const satisfies Record<string, Field>;

/** What an ecosystem leaves untold that tells only the state of a sensor. */
export const noConditions = { testing: null, fault: null, endOfLife: null, muted: null } as const;

interface ReportedAlarm {
  readonly available: boolean | null;
  readonly state: { readonly state: AlarmState | null; readonly fault: boolean | null };
}

/**
 * Whether the state counts as the present one. An alarm that says that it is broken counts only while it reports
 * danger.
 */
export function isCurrent({ available, state: { state, fault } }: ReportedAlarm): boolean {
  if (fault === true) return state === "warning" || state === "alarm";
  return available !== false;
}

export const alarmCapabilities = {
  graded: { value: flag, meaning: "The sensor tells a warning from an alarm." },
} as const;
