import { thingKinds } from "../../home/thing.ts";
import type { AlertCommand } from "../../model/alert-commands.ts";
import { BadParameter } from "../../model/errors.ts";
import { commandIn } from "./command-body.ts";

const members: readonly string[] = ["thingId", "kind", "room", "trait", "command", "params"];
const roomCharacters = 1_000;

/** Parses the member `commands` of an alert's definition. */
export function alertCommandsOf(value: unknown): readonly AlertCommand[] {
  if (!Array.isArray(value)) throw refused("The member commands must be a list.");
  return value.map(alertCommandOf);
}

function alertCommandOf(value: unknown): AlertCommand {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refused("Each of commands must be a JSON object.");
  }
  if (Object.keys(value).some((name) => !members.includes(name))) {
    throw refused(`Each of commands may have these members: ${members.join(", ")}.`);
  }
  const { trait, command, params } = commandIn(value);
  return { ...targetOf({ ...value }), trait, command, params: { ...params } };
}

/** One thing, or the things of a kind. */
function targetOf({ thingId, kind, room }: Readonly<Record<string, unknown>>) {
  if ((thingId === undefined) === (kind === undefined)) {
    throw refused("Each of commands must have a thingId, or a kind with or without a room: not both.");
  }
  if (thingId !== undefined) {
    if (typeof thingId !== "string") throw refused("The thingId of a command must be a thing's id, a string.");
    if (room !== undefined) throw refused("A command with a thingId must not have a room.");
    return { thingId };
  }
  if (!thingKinds.some((known) => known === kind)) {
    throw refused(`The kind of a command must be one of: ${thingKinds.join(", ")}.`);
  }
  if (room === undefined) return { kind: kind as string };
  if (typeof room !== "string" || room === "" || room.length > roomCharacters || !room.isWellFormed()) {
    throw refused("The room of a command must be the name of a room, as the things show it.");
  }
  return { kind: kind as string, room };
}

function refused(sentence: string): BadParameter {
  return new BadParameter("commands", sentence);
}
