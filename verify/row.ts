import type { Need } from "./needs.ts";
import type { Seen } from "./outcome.ts";
import type { RowContext } from "./row-context.ts";

export const groups = ["Reach", "Linking a user", "Users and devices", "The linked account", "Events"] as const;
export type Group = (typeof groups)[number];

/** One thing that a deployment has to do. */
export interface Row {
  readonly name: string;
  readonly group: Group;
  readonly title: string;
  /** What an integrator knows once it has passed. */
  readonly proves: string;
  /** Whether the published interface asks for it, or something beyond that. */
  readonly isEssential: boolean;
  readonly needs: readonly Need[];
  /** What must have passed: this row goes on with what those have found. */
  readonly after: readonly string[];
  /** Rows that must have passed: otherwise this row would fail for the same reason. */
  readonly unless?: readonly string[];
  /** Throws Failure or NotRun when it isn't so. */
  run(context: RowContext): Promise<Seen>;
}
