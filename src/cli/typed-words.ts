import type { Command } from "commander";
import type { Noun } from "./noun.ts";

/** The typed words as commander expects them: a noun alone gets its default verb, and `help` becomes `--help`. */
export function completeWords(args: readonly string[], program: Command, nouns: readonly Noun[]): readonly string[] {
  return withHelpOption(withDefaultVerb(args, nouns), program);
}

/**
 * Commander's own default verb would take any unknown word as its argument: `link lst` would fail as "too many arguments
 * for 'add'".
 */
function withDefaultVerb(args: readonly string[], nouns: readonly Noun[]): readonly string[] {
  const [word, next] = args;
  const noun = nouns.find(({ name, alias }) => word !== undefined && (word === name || word === alias));
  const verb = noun?.commands.find((command) => "isDefault" in command && command.isDefault);
  const isAlone = next === undefined || (next.startsWith("-") && next !== "-h" && next !== "--help");
  return verb && isAlone ? [word!, verb.name.split(" ").at(-1)!, ...args.slice(1)] : args;
}

/** Commander's own `help` reads one word, and prints the general help for an unknown one. */
function withHelpOption(args: readonly string[], program: Command): readonly string[] {
  let command = program;
  for (const [at, word] of args.entries()) {
    if (command.commands.length === 0) return args;
    if (word === "help") return pathTo(command, args.slice(0, at), args.slice(at + 1));
    const next = subcommand(command, word);
    if (!next) return args;
    command = next;
  }
  return args;
}

/** The words of the command whose help is printed. An unknown word stays the last: commander then reports it. */
function pathTo(start: Command, before: readonly string[], words: readonly string[]): readonly string[] {
  const path = [...before];
  let command = start;
  for (const word of words.filter((one) => !one.startsWith("-"))) {
    if (command.commands.length === 0) break;
    path.push(word);
    const next = subcommand(command, word);
    if (!next) return path;
    command = next;
  }
  return [...path, "--help"];
}

function subcommand(command: Command, word: string): Command | undefined {
  return command.commands.find((one) => one.name() === word || one.aliases().includes(word));
}
