import type { Command } from "commander";
import type { TriggerId } from "../../../model/ids.ts";
import { type Input, id } from "../../input.ts";

export function withUser(command: Command): Command {
  return command.requiredOption("--user <id>", "the user; see: breezeway user list");
}

export function withAlert(command: Command): Command {
  return withUser(command).requiredOption("--alert <id>", "the alert; see: breezeway home alert list");
}

export function alertIdIn(input: Input): TriggerId {
  return id<TriggerId>(input, "alert");
}
