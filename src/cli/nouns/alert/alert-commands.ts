import type { AlertCommand, ThingKind } from "../../../../sdk/src/index.ts";
import { BadParameter } from "../../../model/errors.ts";
import { commandInWords } from "../../things/receipt-view.ts";
import { readParameter } from "../thing/thing-command.ts";

/** Reads `--command "light@Hall: onOff set on=true"`: a thing's id or a kind, perhaps a room, then the command. */
export function readAlertCommand(words: string): AlertCommand {
  const [, target, trait, command, rest = ""] = /^([^:]+):\s*(\S+)\s+(\S+)(?:\s+(.*))?$/s.exec(words.trim()) ?? [];
  if (target === undefined || trait === undefined || command === undefined) {
    throw new BadParameter(
      "command",
      `--command "${words}": it should be a thing or a kind, a colon and a command, as in "light: onOff set on=true".`,
    );
  }
  const parameters = rest.match(/(?:[^\s"]|"[^"]*")+/g) ?? [];
  return { ...readTarget(target.trim()), trait, command, params: Object.fromEntries(parameters.map(readParameter)) };
}

/** Thing ids begin with `t_`; every other word is a kind, which the service checks. */
function readTarget(target: string) {
  if (target.startsWith("t_")) return { thingId: target };
  const at = target.indexOf("@");
  if (at < 0) return { kind: target as ThingKind };
  return { kind: target.slice(0, at) as ThingKind, room: target.slice(at + 1) };
}

/** `send onOff set on=true to every light in Hall` */
export function alertCommandInWords(command: AlertCommand): string {
  const words = commandInWords({ ...command, params: command.params ?? {} });
  if ("thingId" in command) return `send ${words} to thing ${command.thingId}`;
  return `send ${words} to every ${command.kind}${command.room === undefined ? "" : ` in ${JSON.stringify(command.room)}`}`;
}
