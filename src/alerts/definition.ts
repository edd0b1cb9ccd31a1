import type { ReadThing } from "../devices/read-thing.ts";
import { attributeKey, checkWrites } from "../devices/write.ts";
import { isRelative } from "../home/command.ts";
import type { AlertCommand } from "../model/alert-commands.ts";
import { type ConditionInput, readCondition } from "../model/condition.ts";
import { BadParameter, LimitReached, UnknownDevice, UnknownThing } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import {
  type AlertRule,
  bytesOf,
  type ThingTriggerDefinition,
  type TriggerDefinition,
  writingAction,
} from "../model/trigger.ts";
import type { Target } from "../model/trigger-targets.ts";
import type { Transaction } from "../store/seam.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { AlertTables } from "./alert-tables.ts";
import type { Commanding } from "./commanding.ts";
import { fieldOf, refuseImpossible } from "./field-conditions.ts";
import type { Patterns } from "./patterns.ts";

/** The rule of an alert as a client sends it, not yet checked. */
export type RuleInput = Omit<AlertRule, "condition" | "commands"> &
  Partial<Pick<AlertRule, "commands">> &
  ConditionInput & { readonly isEnabled: boolean };

/** An alert on an attribute as a client sends it. */
export type TriggerInput = RuleInput & Pick<TriggerDefinition, "deviceId" | "attributeName">;

/** An alert on a field of a thing as a client sends it. */
export type ThingTriggerInput = RuleInput & Pick<ThingTriggerDefinition, "thingId" | "field">;

export interface CheckedTrigger extends TriggerDefinition {
  readonly key: AttributeKey;
  readonly isEnabled: boolean;
}

export interface CheckedThingTrigger extends ThingTriggerDefinition {
  readonly isEnabled: boolean;
}

/** What a definition is checked with. */
export interface CheckParts {
  readonly patterns: Pick<Patterns, "faultOf" | "matches">;
  readonly commanding: Commanding;
}

const maximalCharacters = { action: 60, address: 2_048, msg: 2_048, stringThreshold: 8_192 };
/** Targets and commands together. */
const maximalActs = 100;

/** Checks a definition, parses its condition and resolves its attribute. Throws at the first mistake. */
export async function checkDefinition(
  tx: AlertTables,
  device: DeviceRow,
  input: TriggerInput,
  { patterns, commanding }: CheckParts,
): Promise<CheckedTrigger> {
  const { operation, threshold, stringThreshold, ...definition } = input;
  checkTexts(input);
  const key = attributeKey(device, input.attributeName);
  const condition = readCondition({ operation, threshold, stringThreshold }, patterns.faultOf);
  await checkTargets(tx, device.userId, input);
  const commands = await checkCommands(tx, device.userId, input, commanding);
  return { ...definition, commands, condition, key };
}

/** Checks the definition of an alert on a thing, and parses its condition. Throws at the first mistake. */
export async function checkThingDefinition(
  tx: AlertTables,
  thing: Pick<ReadThing, "userId" | "deviceId" | "state">,
  input: ThingTriggerInput,
  { patterns, commanding }: CheckParts,
): Promise<CheckedThingTrigger> {
  const { operation, threshold, stringThreshold, ...definition } = input;
  checkTexts(input);
  const { value } = fieldOf(thing, input.field);
  const condition = readCondition({ operation, threshold, stringThreshold }, patterns.faultOf);
  refuseImpossible(input.field, value, condition, patterns.matches);
  await checkTargets(tx, thing.userId, input);
  const commands = await checkCommands(tx, thing.userId, input, commanding);
  return { ...definition, commands, deviceId: thing.deviceId, condition };
}

/**
 * Refuses an alert that is too large. `before` is its present size: an alert from before the limit existed may be
 * changed if it does not grow.
 */
export function checkSize(definition: TriggerDefinition | ThingTriggerDefinition, before = 0): number {
  const bytes = bytesOf(definition);
  if (bytes > limits.bytesPerAlert && bytes > before) {
    throw new LimitReached(
      "bytesPerAlert",
      `This alert takes ${bytes} bytes and may take ${limits.bytesPerAlert}. Nothing was changed. Shorten its message, its threshold or its targets.`,
    );
  }
  return bytes;
}

async function checkTargets(
  tx: Pick<Transaction, "devices">,
  userId: UserId,
  { action, targets }: Pick<RuleInput, "action" | "targets">,
): Promise<void> {
  if (action === writingAction && targets.length === 0) {
    throw badTargets(`The action ${writingAction} needs at least one target.`);
  }
  if (targets.length > maximalActs) throw badTargets(`An alert has at most ${maximalActs} targets.`);
  for (const [deviceId, ofDevice] of Map.groupBy(targets, (target: Target) => target.deviceId)) {
    const device = await tx.devices.find(userId, deviceId);
    if (!device) throw new UnknownDevice();
    const changes = checkWrites(
      device,
      ofDevice.map(({ attributeName, value }) => ({ name: attributeName, value })),
    );
    if (new Set(changes.map(({ key }) => key)).size < changes.length) {
      throw badTargets("An alert writes each attribute of a device once.");
    }
  }
}

/**
 * A relative command is refused: it depends on the state that it finds, and nobody looks at the state when an alert
 * fires.
 */
async function checkCommands(
  tx: AlertTables,
  userId: UserId,
  { targets, commands = [] }: Pick<RuleInput, "targets" | "commands">,
  commanding: Commanding,
): Promise<readonly AlertCommand[]> {
  if (commands.length + targets.length > maximalActs) {
    throw badCommands(`An alert has at most ${maximalActs} targets and commands together.`);
  }
  for (const command of commands) {
    if (isRelative(command)) {
      const name = `${command.trait}.${command.command}`;
      throw badCommands(`An alert can't send ${name}, because it depends on the present state. Set a value instead.`);
    }
    if (!("thingId" in command)) continue;
    const reached = await commanding.reached(tx, userId, command, 1);
    if (reached.length === 0) throw new UnknownThing();
  }
  return commands;
}

function badCommands(sentence: string): BadParameter {
  return new BadParameter("commands", sentence);
}

function badTargets(sentence: string): BadParameter {
  return new BadParameter("targetDeviceAttributes", sentence);
}

function checkTexts({ action, address, message, stringThreshold }: RuleInput): void {
  if (action === "") {
    throw new BadParameter(
      "action",
      "The parameter action is missing. Only an alert with commands and without targets needs none.",
    );
  }
  checkText("action", action);
  checkText("address", address);
  checkText("msg", message);
  checkText("stringThreshold", stringThreshold);
}

/**
 * Characters that are refused: databases can't store NUL and halves of surrogate pairs; XML can't carry other control
 * characters, not even escaped.
 */
const forbiddenCharacter = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

function checkText(parameter: keyof typeof maximalCharacters, text: string): void {
  if (text.length > maximalCharacters[parameter] || forbiddenCharacter.test(text)) {
    throw new BadParameter(
      parameter,
      `The parameter ${parameter} must be text of at most ${maximalCharacters[parameter]} characters; of control characters it may hold tabs and line breaks.`,
    );
  }
}
