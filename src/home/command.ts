import { type TraitName, type Traits, traits as traitCatalogue } from "./catalogue.ts";
import { type CommandError, isCommandError } from "./command-errors.ts";
import { readParameters } from "./command-parameters.ts";
import type {
  Command,
  CommandedTrait,
  CommandRules,
  Plan,
  PlannedCommand,
  PlanningRules,
  Step,
} from "./command-plan.ts";
import type { Thing } from "./thing.ts";
import { brightnessRules } from "./traits/brightness-commands.ts";
import { fanRules } from "./traits/fan-commands.ts";
import { fanTimerRules } from "./traits/fan-timer-commands.ts";
import { onOffRules } from "./traits/on-off-commands.ts";
import { thermostatRules } from "./traits/thermostat-commands.ts";

const rulesByTrait: { readonly [Name in CommandedTrait]: CommandRules<Name> } = {
  onOff: onOffRules,
  brightness: brightnessRules,
  thermostat: thermostatRules,
  fanTimer: fanTimerRules,
  fan: fanRules,
};

/** Reads a command from outside. Nothing but the declared parameters is accepted. */
export function readCommand(trait: string, command: string, params: unknown): Command | CommandError {
  const notSupported = { code: "notSupported", command: `${trait}.${command}` } as const;
  if (!Object.hasOwn(traitCatalogue, trait)) return { ...notSupported, reason: "there is no such trait" };
  const { commands } = traitCatalogue[trait as TraitName];
  if (!Object.hasOwn(commands, command)) return { ...notSupported, reason: commandsOf(trait, Object.keys(commands)) };
  const read = readParameters(commands[command]!, params);
  if (isCommandError(read)) return read;
  const typed = { trait, command, params: read.params } as Command;
  return rulesOf(typed.trait).check?.(typed) ?? typed;
}

/** Names only words of the catalogue: an error of /v3 never repeats the request. */
function commandsOf(trait: string, names: readonly string[]): string {
  if (names.length === 0) return `${trait} has no commands`;
  return `${trait} has only ${names.length === 1 ? "the command" : "the commands"} ${names.join(", ")}`;
}

/** Whether the command's meaning depends on the current state: it is refused as `stale` while the state is stale. */
export function isRelative({ command }: { readonly command: string }): boolean {
  return relativeCommands.includes(command);
}

const relativeCommands: readonly string[] = ["adjustTarget", "adjust", "adjustPercent"];

/**
 * How a command is carried out, or why it can't be. `queued`: the commands that were accepted before and have not
 * ended, oldest first. The plan is made for the state that they will leave, so that a mode and a target for this mode
 * can be sent one after the other.
 */
export function planCommand(
  thing: Pick<Thing, "traits" | "isOnline">,
  queued: readonly PlannedCommand[],
  command: Command,
  rules: PlanningRules = { endsEcoFirst: true },
): Plan | CommandError {
  const { traits } = thingAfter(
    thing,
    queued.map(({ plan }) => plan),
  );
  const trait = traits[command.trait];
  if (trait === undefined) {
    const reason = `the thing has no trait ${command.trait}`;
    return { code: "notSupported", command: `${command.trait}.${command.command}`, reason };
  }
  // Null: the ecosystem did not tell whether it reaches the thing, and decides.
  if (thing.isOnline === false || trait.available === false) return { code: "offline" };
  return rulesOf(command.trait).plan(traits as Required<Traits>, command, rules);
}

/** The thing after these plans were carried out. */
export function thingAfter<Planned extends Pick<Thing, "traits">>(thing: Planned, plans: readonly Plan[]): Planned {
  return { ...thing, traits: plans.flatMap(({ steps }) => steps).reduce(traitsAfter, thing.traits) };
}

/** The traits after a step was carried out. */
function traitsAfter(traits: Traits, step: Step): Traits {
  const { trait: name, set } = step;
  const trait = traits[name];
  if (trait === undefined) return traits;
  const state = { ...trait.state, ...rulesOf(name).sideEffects?.(trait.state, set), ...set };
  const after: Traits = { ...traits, [name]: { ...trait, state } };
  const on = switchedBy(step);
  return on === undefined || !after.onOff ? after : { ...after, onOff: { ...after.onOff, state: { on } } };
}

/** Whether a step of another trait switches the thing on or off: a brightness and a speed do. */
function switchedBy(step: Step): boolean | undefined {
  if (step.trait === "brightness") return true;
  return step.trait === "fan" && typeof step.set.percent === "number" ? step.set.percent > 0 : undefined;
}

/** The rules of any trait. The compiler does not follow that a command and its rules belong to the same trait. */
function rulesOf(trait: CommandedTrait): CommandRules<CommandedTrait> {
  return rulesByTrait[trait] as CommandRules<CommandedTrait>;
}
