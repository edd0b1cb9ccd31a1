import { concerns, type Fault, type FaultEffect } from "./fault.ts";

/** What a fault can depend on in a valid command. */
export interface CommandInfo {
  readonly accountId: string;
  /** True when it starts a fan, false when it stops one; undefined for any other command. */
  readonly startsFan: boolean | undefined;
}

type CommandEffect = Extract<
  FaultEffect,
  { fault: "reject-fan" | "withhold-answer" | "answer-late" | "reset-after-body" | "accept-then-revert" }
>;

/** Faults of every command. */
const ofAll: readonly FaultEffect["fault"][] = ["withhold-answer", "answer-late", "reset-after-body"];

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
    if (ofAll.includes(effect.fault)) return { effect: effect as CommandEffect, applied: [fault] };
    if (effect.fault === "reject-fan" && command.startsFan !== undefined) return { effect, applied: [fault] };
    if (effect.fault === "accept-then-revert" && command.startsFan === true) return { effect, applied: [fault] };
  }
  return { effect: undefined, applied: [] };
}
