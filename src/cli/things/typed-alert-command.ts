import type { AlertCommand } from "../../model/alert-commands.ts";

/** `light@Hall: onOff set on=true`: a command of an alert as `--command` takes it. */
export function typedAlertCommand(command: AlertCommand): string {
  const { trait, command: name, params = {} } = command;
  const target = "thingId" in command ? command.thingId : command.kind;
  const place = "room" in command && command.room !== undefined ? `@${command.room}` : "";
  const values = Object.entries(params).map(([key, value]) => `${key}=${quoted(String(value))}`);
  return `${target}${place}: ${[trait, name, ...values].join(" ")}`;
}

function quoted(value: string): string {
  return /\s/.test(value) ? `"${value}"` : value;
}
