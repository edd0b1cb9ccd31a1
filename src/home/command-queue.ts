import { isRelative } from "./command.ts";
import type { Command, CommandedTrait, PlannedCommand } from "./command-plan.ts";

/** How many commands of one thing may wait or run at once. */
export const maximalQueued = 4;

/**
 * How a newer command relates to one that has not ended. `joins`: they ask for the same, and share one receipt and one
 * sending. `supersedes`: the newer one replaces it, since it was not sent. `follows`: both are sent, one after the other.
 */
export type Relation = "joins" | "supersedes" | "follows";

export function relationOf(newer: Command, queued: Pick<PlannedCommand, "command" | "isSent">): Relation {
  if (!isSameKind(newer, queued.command)) return "follows";
  // Each relative command counts: two of +1 °C are +2 °C. The second is planned on top of the first and can replace it.
  if (!isRelative(newer) && hasSameParams(newer, queued.command)) return "joins";
  return queued.isSent ? "follows" : "supersedes";
}

/** Where a newer command goes: `index` is the position of the command that it joins or supersedes. */
export type Placement =
  | { readonly relation: "joins"; readonly index: number }
  | { readonly relation: "supersedes"; readonly index: number }
  | { readonly relation: "follows" }
  | { readonly relation: "full" };

/**
 * The relation of a newer command to the whole queue, oldest first. A command of another kind in between separates
 * commands that could influence each other: in "target 20, mode cool, target 20" the targets belong to different modes.
 */
export function placementOf(newer: Command, queued: readonly Pick<PlannedCommand, "command" | "isSent">[]): Placement {
  for (let index = queued.length - 1; index >= 0; index--) {
    const relation = relationOf(newer, queued[index]!);
    if (relation !== "follows") return { relation, index };
    if (influenceEachOther(newer.trait, queued[index]!.command.trait)) break;
  }
  return queued.length < maximalQueued ? { relation: "follows" } : { relation: "full" };
}

/** Traits whose commands influence each other: a brightness switches a light on, a speed of 0 stops a fan. */
const powerTraits: readonly CommandedTrait[] = ["onOff", "brightness", "fan"];

function influenceEachOther(trait: CommandedTrait, other: CommandedTrait): boolean {
  return trait === other || (powerTraits.includes(trait) && powerTraits.includes(other));
}

function isSameKind(command: Command, other: Command): boolean {
  return command.trait === other.trait && command.command === other.command;
}

/** A shallow comparison suffices: parameters are scalars, and `readCommand` has normalised both commands. */
function hasSameParams({ params }: Command, other: Command): boolean {
  const [own, others] = [Object.entries(params), new Map(Object.entries(other.params))];
  return own.length === others.size && own.every(([name, value]) => others.get(name) === value);
}
