import { concerns, type Fault, type Trouble } from "./fault.ts";

/** A command that was read and found in order, as faults see it. */
export interface FacedCommand {
  readonly accountId: string;
  /** True when it starts a fan, false when it stops one; undefined for any other command. */
  readonly startsFan: boolean | undefined;
}

type CommandTrouble = Extract<
  Trouble,
  { fault: "reject-fan" | "withhold-answer" | "reset-after-body" | "accept-then-revert" }
>;

export interface CommandDecision {
  /** Undefined: it is carried out and answered as it should be. */
  readonly trouble: CommandTrouble | undefined;
  readonly struck: readonly Fault[];
}

/** Decides what goes wrong with a command: the oldest fault that suits it. */
export function decideCommand(faults: readonly Fault[], command: FacedCommand): CommandDecision {
  for (const fault of faults) {
    const { trouble } = fault;
    if (!concerns(fault, command.accountId)) continue;
    if (trouble.fault === "withhold-answer" || trouble.fault === "reset-after-body")
      return { trouble, struck: [fault] };
    if (trouble.fault === "reject-fan" && command.startsFan !== undefined) return { trouble, struck: [fault] };
    if (trouble.fault === "accept-then-revert" && command.startsFan === true) return { trouble, struck: [fault] };
  }
  return { trouble: undefined, struck: [] };
}
