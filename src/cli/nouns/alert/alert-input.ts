import type { AnyTriggerRow } from "../../../alerts/alerts.ts";
import { readCommand } from "../../../home/command.ts";
import { commandErrorText, isCommandError } from "../../../home/command-errors.ts";
import type { AlertCommand } from "../../../model/alert-commands.ts";
import { BadParameter } from "../../../model/errors.ts";
import type { DeviceId } from "../../../model/ids.ts";
import type { AlertInput } from "../../administration/homes/home-alerts.ts";
import type { Input } from "../../input.ts";
import { definitionOf } from "./alert-definition.ts";

/** The alert that the options define. Its commands are checked here; the rest is checked where alerts are. */
export function inputIn(input: Input): AlertInput {
  const {
    stringThreshold = "",
    threshold,
    targets = [],
    commands = [],
    ...defined
  } = definitionOf({
    when: "equals",
    ...input,
  });
  const { action, address = "", msg = "", autoDisarm, autoDelete, autoDisable, enable } = defined;
  const watched =
    "thingId" in defined
      ? { thingId: defined.thingId, field: defined.field }
      : { deviceId: defined.deviceId as DeviceId, attributeName: defined.attrName };
  return {
    ...watched,
    operation: defined.operation,
    threshold: threshold === undefined ? "" : String(threshold),
    stringThreshold,
    action,
    targets: targets.map(({ deviceId, attrName, value }) => ({
      deviceId: deviceId as DeviceId,
      attributeName: attrName,
      value: value === null ? "" : String(value),
    })),
    commands: commands.map((command) => checkedCommand(command as AlertCommand)),
    address,
    message: msg,
    autoDisarm: autoDisarm === true,
    autoDelete: autoDelete === true,
    autoDisable: autoDisable === true,
    isEnabled: enable !== false,
  };
}

function checkedCommand(command: AlertCommand): AlertCommand {
  const read = readCommand(command.trait, command.command, command.params ?? {});
  if (isCommandError(read)) throw new BadParameter("command", commandErrorText(read));
  return { ...command, params: { ...read.params } };
}

/** A stored alert as the definition that it was made from. */
export function inputWithin({ condition, ...trigger }: AnyTriggerRow): AlertInput {
  const compared = {
    operation: condition.operation,
    threshold: "threshold" in condition ? String(condition.threshold) : "",
    stringThreshold:
      condition.operation === "regex" ? condition.pattern : condition.operation === "equals" ? condition.text : "",
  };
  return { ...trigger, ...compared } as AlertInput;
}
