import { isRelative, planCommand } from "./command.ts";
import { type CommandError, isCommandError } from "./command-errors.ts";
import type { Command, Plan, PlannedCommand, PlanningRules } from "./command-plan.ts";
import { type Placement, placementOf } from "./command-queue.ts";
import type { Thing } from "./thing.ts";

/** What becomes of a newer command. `index`: the position in the queue of the command that it joins or supersedes. */
export type AdmissionDecision =
  | { readonly relation: "joins"; readonly index: number }
  | { readonly relation: "supersedes"; readonly index: number; readonly plan: Plan }
  | { readonly relation: "follows"; readonly plan: Plan };

/** Checks a newer command against the thing's state and queue, oldest first, and plans it. */
export function admitCommand(
  thing: Pick<Thing, "traits" | "isOnline">,
  queued: readonly PlannedCommand[],
  command: Command,
  rules?: PlanningRules,
): AdmissionDecision | CommandError {
  const placement = placementOf(command, queued);
  if (placement.relation === "full") return { code: "busy" };
  if (placement.relation === "joins") return placement;
  const plan = planCommand(thing, commandsBefore(command, queued, placement), command, rules);
  return isCommandError(plan) ? plan : { ...placement, plan };
}

/** The commands whose results the newer one finds. */
function commandsBefore(command: Command, queued: readonly PlannedCommand[], placement: Placement) {
  // A target is planned on top of the target that it replaces: "heat to 19" and "cool to 25" make one pair. Another
  // command must not undo what is never sent, such as the end of an eco that has not begun.
  const addsUp = command.command === "setTarget" || isRelative(command);
  return placement.relation === "supersedes" && !addsUp ? queued.toSpliced(placement.index, 1) : queued;
}
