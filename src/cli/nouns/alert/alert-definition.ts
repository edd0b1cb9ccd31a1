import type { Command } from "commander";
import type { AlertDefinition, AnyAlert, ThingAlertDefinition } from "../../../../sdk/src/index.ts";
import { BadParameter } from "../../../model/errors.ts";
import type { DeviceId } from "../../../model/ids.ts";
import { commandingAction, writingAction } from "../../../model/trigger.ts";
import { hasFlag, type Input, id, optional, text, texts } from "../../input.ts";
import { alertCommandInWords, readAlertCommand } from "./alert-commands.ts";

const operations = ["equals", "regex", ">", ">=", "<", "<=", "=="];

/** The options that define an alert, for adding one and for trying one out. */
export function withDefinitionOptions(command: Command): Command {
  return withRuleOptions(command).option("--disabled", "add it disabled; see: breezeway alert enable");
}

/** What an alert watches, compares and does. */
export function withRuleOptions(command: Command): Command {
  return command
    .option("--device <id>", "the device that the alert watches")
    .option("--attribute <name>", "the attribute of the device that the alert watches")
    .option("--thing <id>", "the thing that the alert watches, in place of a device")
    .option("--field <trait.field>", "the field of the thing that the alert watches, as in smoke.state")
    .addOption(
      command
        .createOption("--when <operation>", "how the value is compared; a regex must match the whole of it")
        .choices(operations)
        .default("equals"),
    )
    .requiredOption("--value <value>", "what it is compared with: home, or (auto-)?away with regex, or 20 with >=")
    .option(
      "--set <id,name=value...>",
      "what a firing writes to which device, as in 2,power=on; may be given several times",
    )
    .option(
      "--command <target: trait command name=value...>",
      'what a firing sends to which thing, as in "t_…: fanTimer start", "light: onOff set on=true" or "light@Hall: onOff set on=true"; may be given several times',
    )
    .option("--action <word>", "the name of the action when a firing writes nothing, as in notify")
    .option("--message <text>", "the message that a firing carries")
    .option("--auto-disarm", "fire once, and not again until the condition has been false")
    .option("--auto-disable", "fire once, then be disabled")
    .option("--auto-delete", "fire once, then be deleted");
}

type Target = NonNullable<AlertDefinition["targets"]>[number];

/** The alert that the options define. */
export function definitionOf(typed: Input): (AlertDefinition | ThingAlertDefinition) & { readonly action: string } {
  const watched = watchedOf(typed);
  const operation = text(typed, "when") as AlertDefinition["operation"];
  const value = text(typed, "value");
  const isText = operation === "equals" || operation === "regex";
  if (!isText && !/^-?\d+(\.\d+)?$/.test(value)) {
    throw new BadParameter("value", `--value must be a number with --when "${operation}".`);
  }
  const targets = texts(typed, "set").map(readTarget);
  const commands = texts(typed, "command").map(readAlertCommand);
  const implied = targets.length > 0 ? writingAction : commands.length > 0 ? commandingAction : undefined;
  const action = optional(typed, "action") ?? implied;
  if (action === undefined) {
    throw new BadParameter(
      "set",
      'Say what a firing does: --set 1,power=on, --command "light: onOff set on=true", or --action notify.',
    );
  }
  return {
    ...watched,
    operation,
    ...(isText ? { stringThreshold: value } : { threshold: Number(value) }),
    action,
    targets,
    ...(commands.length > 0 && { commands }),
    address: "",
    msg: optional(typed, "message") ?? "",
    autoDisarm: hasFlag(typed, "auto-disarm"),
    autoDelete: hasFlag(typed, "auto-delete"),
    autoDisable: hasFlag(typed, "auto-disable"),
    enable: !hasFlag(typed, "disabled"),
  };
}

/** What the alert watches: an attribute of a device, or a field of a thing. */
function watchedOf(typed: Input) {
  const isOnThing = ["thing", "field"].some((name) => optional(typed, name) !== undefined);
  const isOnDevice = ["device", "attribute"].some((name) => optional(typed, name) !== undefined);
  if (isOnThing === isOnDevice) {
    const name = isOnThing ? "thing" : "device";
    throw new BadParameter(
      name,
      "Say what the alert watches: --device 1 --attribute power, or --thing t_… --field smoke.state.",
    );
  }
  if (isOnThing) return { thingId: text(typed, "thing"), field: text(typed, "field") };
  return { deviceId: id<DeviceId>(typed, "device"), attrName: text(typed, "attribute") };
}

/** The part of a shown alert that defines it. */
export function definitionWithin(alert: AnyAlert): AlertDefinition | ThingAlertDefinition {
  const watched =
    "thingId" in alert
      ? { thingId: alert.thingId, field: alert.field }
      : { deviceId: alert.deviceId, attrName: alert.attrName };
  const { operation, threshold, stringThreshold, action, targets, commands, address, msg } = alert;
  const { autoDisarm, autoDelete, autoDisable, enable } = alert;
  const compared = threshold === undefined ? { stringThreshold: stringThreshold! } : { threshold };
  const manner = { autoDisarm, autoDelete, autoDisable, enable };
  const acts = { action, targets, ...(commands && { commands }) };
  return { ...watched, operation, ...compared, ...acts, address, msg, ...manner };
}

/** `When device 2 › d.structures[1].a.away equals "home", set device 1 › power to "on".` */
export function alertInWords(alert: AnyAlert): string {
  const compared = alert.threshold ?? JSON.stringify(alert.stringThreshold);
  const operation = alert.operation === "regex" ? "matches" : alert.operation;
  const writes = alert.targets.map(
    (one) =>
      `set device ${one.deviceId} › ${one.attrName} to ${one.value === null ? "blank" : JSON.stringify(one.value)}`,
  );
  const acts = alert.action === "attribute" ? writes : [`tell "${alert.action}"`];
  const does = [...acts, ...(alert.commands ?? []).map(alertCommandInWords)].join(" and ") || "nothing";
  const watched =
    "thingId" in alert ? `thing ${alert.thingId} › ${alert.field}` : `device ${alert.deviceId} › ${alert.attrName}`;
  return `When ${watched} ${operation} ${compared}, ${does}.`;
}

function readTarget(word: string): Target {
  const [, device, attrName, value] = /^(\d+)\s*[,:/]\s*([^=]+)=(.*)$/s.exec(word) ?? [];
  if (!device || !attrName)
    throw new BadParameter("set", `--set ${word}: it should be id,name=value, as in 1,power=on.`);
  return { deviceId: Number(device), attrName, value: value || null };
}
