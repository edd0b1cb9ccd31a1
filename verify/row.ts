import type { Need } from "./needs.ts";
import type { Observation } from "./outcome.ts";
import type { RowContext } from "./row-context.ts";

export const groups = [
  "The service itself",
  "Linking a user",
  "Users and devices",
  "The linked account",
  "Events",
] as const;
export type Group = (typeof groups)[number];

/** One promise of the interface, and the check whether a deployment keeps it. */
export interface Row {
  readonly name: string;
  readonly group: Group;
  readonly title: string;
  /** What an integrator knows when the row has passed. */
  readonly proves: string;
  /** Whether the published interface requires it. */
  readonly isEssential: boolean;
  readonly needs: readonly Need[];
  /** Rows that must have passed: this row uses the values that they stored. */
  readonly after: readonly string[];
  /** Rows that must have passed: otherwise this row would fail for the same reason. */
  readonly unless?: readonly string[];
  /** Throws Failure or NotRun. */
  run(context: RowContext): Promise<Observation>;
}
