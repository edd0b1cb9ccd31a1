import type { Html } from "../../../web/html.ts";
import { type StatusLevel, state } from "../kit/state.ts";

/** A verification as `verification list` answers it. */
export interface ShownVerification {
  readonly verificationId: string;
  readonly url: string;
  readonly by: string;
  readonly startedTime: string;
  readonly state: "running" | "ended" | "failed";
  readonly grade: "A" | "B" | "C" | "D" | "F" | null;
  readonly verdict: string | null;
  readonly seconds: number | null;
  readonly version: string | null;
  readonly problem: string | null;
}

const moods: Readonly<Record<NonNullable<ShownVerification["grade"]>, StatusLevel>> = {
  A: "good",
  B: "good",
  C: "warn",
  D: "warn",
  F: "bad",
};

/** The grade; without one, that it runs or has failed. */
export function verificationState({ grade, state: progress }: ShownVerification): Html {
  if (grade !== null) return state(moods[grade], `grade ${grade}`);
  return progress === "running" ? state("warn", "running") : state("bad", "no report");
}

export function verificationWords({ verdict, problem }: ShownVerification): string {
  return verdict ?? problem ?? "The service calls itself as its clients would. It takes less than a minute.";
}

/** Who has started it. */
export function verificationBy({ by }: ShownVerification): string {
  return by === "local" ? "a command on the machine" : by;
}
