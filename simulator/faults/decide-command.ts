import { concerns, type Fault, type FaultEffect } from "./fault.ts";

/** What a fault can depend on in a valid command. */
export interface CommandInfo {
  readonly accountId: string;
  /** True when it starts a fan, false when it stops one; undefined for any other command. */
  readonly startsFan: boolean | undefined;
}

type CommandEffect = Extract<
  FaultEffect,
  { fault: "reject-fan" | "withhold-answer" | "reset-after-body" | "accept-then-revert" }
>;

export interface CommandDecision {
  /** Undefined: the command is carried out and answered normally. */
  readonly effect: CommandEffect | undefined;
  readonly applied: readonly Fault[];
}

/** Decides which fault applies to a command: the oldest matching one. */
export function decideCommand(faults: readonly Fault[], command: CommandInfo): CommandDecision {
  for (const fault of faults) {
    const { effect } = fault;
    if (!concerns(fault, command.accountId)) continue;
    if (effect.fault === "withhold-answer" || effect.fault === "reset-after-body") return { effect, applied: [fault] };
    if (effect.fault === "reject-fan" && command.startsFan !== undefined) return { effect, applied: [fault] };
    if (effect.fault === "accept-then-revert" && command.startsFan === true) return { effect, applied: [fault] };
  }
  return { effect: undefined, applied: [] };
}
