import type { Traits } from "./catalogue.ts";
import type { CommandError } from "./command-errors.ts";
import type { CommandOf } from "./trait.ts";
import type { brightness } from "./traits/brightness.ts";
import type { fan } from "./traits/fan.ts";
import type { fanTimer } from "./traits/fan-timer.ts";
import type { onOff } from "./traits/on-off.ts";
import type { thermostat } from "./traits/thermostat.ts";

interface CommandsByTrait {
  readonly onOff: CommandOf<typeof onOff>;
  readonly brightness: CommandOf<typeof brightness>;
  readonly thermostat: CommandOf<typeof thermostat>;
  readonly fanTimer: CommandOf<typeof fanTimer>;
  readonly fan: CommandOf<typeof fan>;
}

/** The traits that have commands. */
export type CommandedTrait = keyof CommandsByTrait;

export type CommandFor<Name extends CommandedTrait> = CommandsByTrait[Name];

/** A command whose parameters have the declared types. Whether a thing accepts it depends on the thing's state. */
export type Command = CommandFor<CommandedTrait>;

/** How the ecosystem carries a command out: one or two steps, each sent once, and the state that proves it. */
export interface Plan {
  readonly steps: readonly [Step] | readonly [Step, Step];
  /** Fields of the state that show that the whole command was carried out. */
  readonly expected: readonly Expectation[];
  /**
   * The command in a form that does not depend on the state: `adjustTarget` as the `setTarget` that it became. When a
   * command is checked again at its sending, this form is planned; a relative command would count twice.
   */
  readonly absolute: Command;
}

/**
 * One call to the ecosystem. `set` holds the values of state fields after the step, in the units of the trait. A step
 * of the trait `brightness` also switches the light on. A step of the trait `thermostat` with `baseMode: null` ends
 * eco.
 */
export type Step = { readonly [Name in CommandedTrait]: StepOf<Name> }[CommandedTrait];

export interface StepOf<Name extends CommandedTrait> {
  readonly trait: Name;
  readonly set: Partial<StateOf<Name>>;
  /** How long a timer runs. It counts from the sending, so that it is no state field. */
  readonly forMinutes?: number;
}

export type StateOf<Name extends CommandedTrait> = NonNullable<Traits[Name]>["state"];

/** A number may differ from `value` by `tolerance`; other values must be equal. */
export interface Expectation {
  readonly trait: CommandedTrait;
  readonly field: string;
  readonly value: boolean | number | string;
  readonly tolerance: number;
}

/** A command that was accepted and has not ended. */
export interface PlannedCommand {
  readonly command: Command;
  readonly plan: Plan;
  /** Its first step was sent or is being sent: it can't be taken back. */
  readonly isSent: boolean;
}

/** What planning must know of an ecosystem. */
export interface PlanningRules {
  /** In eco the ecosystem accepts no other mode: eco must end first, which restores the mode before it. */
  readonly endsEcoFirst: boolean;
}

/** The rules of the commands of one trait, in a file beside the trait. */
export interface CommandRules<Name extends CommandedTrait> {
  /** Checks what the types of single parameters can't say. */
  check?(command: CommandFor<Name>): CommandError | undefined;
  /** The plan against a state in which the trait is present and available. */
  plan(
    traits: Traits & Required<Pick<Traits, Name>>,
    command: CommandFor<Name>,
    rules: PlanningRules,
  ): Plan | CommandError;
  /** What a step changes in the state beside `set`. */
  sideEffects?(state: StateOf<Name>, set: Partial<StateOf<Name>>): Partial<StateOf<Name>>;
}

/** An expectation that allows no difference. */
export function exactly(trait: CommandedTrait, field: string, value: boolean | string): Expectation {
  return { trait, field, value, tolerance: 0 };
}
