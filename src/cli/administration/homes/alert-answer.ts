import type { AnyTriggerRow } from "../../../alerts/alerts.ts";
import type { AlertCommand } from "../../../model/alert-commands.ts";
import type { Condition } from "../../../model/condition.ts";
import type { DeviceId } from "../../../model/ids.ts";
import { commandingAction, writingAction } from "../../../model/trigger.ts";
import { commandInWords } from "../../things/receipt-view.ts";
import { typedAlertCommand } from "../../things/typed-alert-command.ts";
import type { AlertInput, HomeAlerts, SubjectNames } from "./home-alerts.ts";
import { isolated } from "./isolated-name.ts";

type Acts = Pick<AnyTriggerRow, "action" | "targets" | "commands" | "message">;

/** An alert as operators see it: its sentence with names, its definition and its state. */
export function alertAnswer(alert: AnyTriggerRow, names: SubjectNames) {
  const { condition, targets, commands } = alert;
  return {
    alertId: alert.id,
    userId: alert.userId,
    deviceId: alert.deviceId,
    ...("thingId" in alert ? { thingId: alert.thingId, field: alert.field } : { attrName: alert.attributeName }),
    sentence: sentenceOf(watchedIn(alert, names), condition, alert, names),
    state: stateOf(alert),
    operation: condition.operation,
    value: comparedWith(condition),
    action: alert.action,
    targets: targets.map(({ deviceId, attributeName, value }) => ({ deviceId, attrName: attributeName, value })),
    commands: commands.map((command) => commandWords(command, names)),
    commandOptions: commands.map(typedAlertCommand),
    msg: alert.message,
    autoDisarm: alert.autoDisarm,
    autoDelete: alert.autoDelete,
    autoDisable: alert.autoDisable,
    disabledReason: alert.reason,
    createdTime: alert.createdMs,
    firedTime: alert.firedMs,
    firings: alert.firings,
  };
}

/** The sentence of a definition that is not stored. */
export function inputSentence(input: AlertInput, names: SubjectNames): string {
  const { operation, threshold, stringThreshold } = input;
  const condition = (
    operation === "equals"
      ? { operation, text: stringThreshold }
      : operation === "regex"
        ? { operation, pattern: stringThreshold }
        : { operation, threshold: Number(threshold) }
  ) as Condition;
  return sentenceOf(watchedIn(input, names), condition, { commands: [], ...input }, names);
}

/** `waiting`: enabled, but not armed. `disabled`: by a caller. `stopped`: by Breezeway; `disabledReason` says why. */
export function stateOf({ isEnabled, isArmed, reason }: AnyTriggerRow): "armed" | "waiting" | "disabled" | "stopped" {
  if (!isEnabled) return reason === null ? "disabled" : "stopped";
  return isArmed ? "armed" : "waiting";
}

/** A sentence names at most this many targets, and as many commands; the rest is counted. */
const mostNamed = 5;

/** The names of what alerts of one user watch and act on. */
export function namesFor(
  homeAlerts: Pick<HomeAlerts, "names">,
  userId: AnyTriggerRow["userId"],
  alerts: readonly (AnyTriggerRow | AlertInput)[],
): Promise<SubjectNames> {
  const deviceIds: DeviceId[] = [];
  const thingIds: string[] = [];
  for (const alert of alerts) {
    if ("thingId" in alert) thingIds.push(alert.thingId);
    else deviceIds.push(alert.deviceId);
    deviceIds.push(...alert.targets.slice(0, mostNamed).map(({ deviceId }) => deviceId));
    const commanded = (alert.commands ?? []).slice(0, mostNamed);
    thingIds.push(...commanded.flatMap((command) => ("thingId" in command ? [command.thingId] : [])));
  }
  return homeAlerts.names(userId, deviceIds, thingIds);
}

function watchedIn(alert: AnyTriggerRow | AlertInput, names: SubjectNames): string {
  return "thingId" in alert
    ? `${thingName(alert.thingId, names)} ${alert.field}`
    : `${deviceName(alert.deviceId, names)} ${isolated(alert.attributeName)}`;
}

function sentenceOf(watched: string, condition: Condition, acts: Acts, names: SubjectNames): string {
  return `When ${watched} ${conditionWords(condition)}, ${actWords(acts, names).join(" and ")}.`;
}

const comparisons: Readonly<Record<Condition["operation"], string>> = {
  equals: "is",
  regex: "matches",
  ">": "rises above",
  ">=": "reaches",
  "<": "falls below",
  "<=": "is at most",
  "==": "equals",
};

function conditionWords(condition: Condition): string {
  const value =
    "threshold" in condition ? String(condition.threshold) : JSON.stringify(isolated(comparedWith(condition)));
  return `${comparisons[condition.operation]} ${value}`;
}

function comparedWith(condition: Condition): string {
  if (condition.operation === "regex") return condition.pattern;
  return condition.operation === "equals" ? condition.text : String(condition.threshold);
}

/** What a firing does, in the order in which it happens. */
function actWords({ action, targets, commands, message }: Acts, names: SubjectNames): readonly string[] {
  const eventAct = action === writingAction || action === commandingAction ? [] : [`tell “${isolated(action)}”`];
  const eventActWithMessage =
    eventAct.length > 0 && message !== "" ? [`${eventAct[0]} (${isolated(message)})`] : eventAct;
  const written = action === writingAction ? targets : [];
  const writes = written.map(
    ({ deviceId, attributeName, value }) =>
      `set ${deviceName(deviceId, names)} ${isolated(attributeName)} to ${value === "" ? "blank" : JSON.stringify(isolated(value))}`,
  );
  const all = [...eventActWithMessage, ...cut(writes), ...cut(commands.map((command) => commandWords(command, names)))];
  // The action "command" without commands only sends its event.
  return all.length === 0 ? [`tell “${commandingAction}”`] : all;
}

function cut(words: readonly string[]): readonly string[] {
  return words.length <= mostNamed ? words : [...words.slice(0, mostNamed), `${words.length - mostNamed} more`];
}

/** `send onOff set on=true to Hall lamp`. */
export function commandWords(command: AlertCommand, names: SubjectNames): string {
  const { trait, command: name, params } = command;
  const words = commandInWords({ trait, command: name, params: params as CommandParams });
  if ("thingId" in command) return `send ${words} to ${thingName(command.thingId, names)}`;
  return `send ${words} to every ${command.kind}${command.room === undefined ? "" : ` in ${isolated(command.room)}`}`;
}

type CommandParams = Parameters<typeof commandInWords>[0]["params"];

function thingName(thingId: string, { things }: SubjectNames): string {
  return isolated(things.get(thingId) ?? `thing ${thingId}`);
}

function deviceName(deviceId: DeviceId, { devices }: SubjectNames): string {
  return isolated(devices.get(deviceId) ?? `device ${deviceId}`);
}
