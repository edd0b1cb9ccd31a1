import { type Command, Argument as CommandArgument, CommanderError, Option } from "commander";
import { type ConfigSources, isSet, readConfig, settings } from "../config/config.ts";
import { shownSettings } from "../config/shown-settings.ts";
import { defaultExample, protocols } from "../ecosystems/registry.ts";
import { BadParameter } from "../model/errors.ts";
import type { AdminCommand } from "./administration/admin-command.ts";
import { onlyOnTheMachine } from "./administration/calls/calls.ts";
import type { Argument, Call, DescribedCommand, OwnCommand } from "./command.ts";
import { exitCodeOf, exitCodes } from "./exit-codes.ts";
import type { Input } from "./input.ts";
import { isAdmin, type Noun } from "./noun.ts";
import { groups } from "./nouns.ts";
import { ProgramCommand } from "./program-command.ts";
import type { EntryPoints } from "./programs.ts";
import { administerAt, chosenAddress } from "./remote/admin-service.ts";
import { flagsOf, withHiddenSettings, withListedSettings, withSettings } from "./settings-flags.ts";
import { describeSimulatorCommands } from "./simulator-commands.ts";
import { printerFor } from "./terminal/output.ts";
import { progressOn, type ReportProgress } from "./terminal/progress.ts";
import { canRedraw, hasColour, type Terminal } from "./terminal/terminal.ts";
import { completeWords } from "./typed-words.ts";

export type { EntryPoints } from "./programs.ts";

const allNouns = groups.flatMap(({ nouns }) => nouns);

/** Runs one command line and returns its exit code. */
export async function runCommandLine(
  args: readonly string[],
  programs: EntryPoints,
  terminal: Terminal,
): Promise<number> {
  let code: number = exitCodes.ok;
  const program = describeProgram(programs, terminal, (ended) => {
    code = ended;
  });
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync([...completeWords(args, program, allNouns)], { from: "user" });
    return code;
  } catch (error) {
    // Commander has already printed what was wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    terminal.err.write(`breezeway: ${error instanceof Error ? error.message : error}\n`);
    return exitCodeOf(error);
  }
}

/** All commands. */
export function describeProgram(
  silentPrograms: EntryPoints,
  terminal: Terminal,
  ended: (exitCode: number) => void = () => undefined,
): Command {
  const { version, commit, schema } = terminal.build;
  const programs = printingTo(terminal, silentPrograms);
  const program = new ProgramCommand("breezeway")
    .description("Links your users' home accounts, mirrors them live, and gives other clouds access to them.")
    .version(`${version} (commit ${commit}, schema ${schema})`, "--version", "print the version")
    .helpOption("-h, --help", "print help")
    .showHelpAfterError("(breezeway --help lists all commands)")
    .configureOutput(outputTo(terminal))
    // A command may have its own --version.
    .enablePositionalOptions()
    .exitOverride();
  const sourcesOf = (command: Command): ConfigSources => ({
    flags: flagsOf(command.opts()),
    environment: terminal.environment,
    ...(terminal.origin && { origin: terminal.origin }),
  });
  const configOf = (command: Command) => readConfig(sourcesOf(command));

  program.commandsGroup("Start here:");
  withSettings(
    withExamples(
      program
        .command("demo")
        .description("run the service with a simulated house that is already linked")
        .option(
          "--seed <text>",
          "the seed of the simulated house; the same seed gives the same house and events (default: 7)",
        )
        .addOption(
          new Option(
            "--ecosystem <protocol>",
            `the ecosystem of the simulated house (default: ${defaultExample.name})`,
          ).choices(protocols.map(({ protocol }) => protocol)),
        ),
      ["demo", "demo --seed 42"],
    ),
  ).action(({ seed, ecosystem }: { seed?: string; ecosystem?: string }, command: Command) => {
    const sources = sourcesOf(command);
    return programs.demo(readConfig(sources), {
      ...(seed !== undefined && { seed }),
      ...(ecosystem !== undefined && { ecosystem }),
      hasEcosystems: isSet(settings.ecosystems, sources),
      hasDataFolder: isSet(settings.dataFolder, sources),
      hasLogLevel: isSet(settings.logLevel, sources),
      settings: shownSettings(sources),
    });
  });
  withSettings(
    withExamples(program.command("serve").description("run the service"), ["serve", "serve --port 8443"]),
  ).action((_, command: Command) => {
    const sources = sourcesOf(command);
    return programs.serve(readConfig(sources), shownSettings(sources));
  });
  withExamples(program.command("simulator").description("run the simulated home ecosystem alone"), [
    "simulator",
    "simulator --port 0",
  ])
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option("--port <number>", "the port to listen on; 0 takes a free one", "8090")
    .action(({ host, port }: { host: string; port: string }) => {
      if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
        throw new BadParameter("port", "--port must be a port from 0 to 65535.");
      }
      return programs.simulator({ host, port: Number(port) });
    });
  describeSimulatorCommands(program, terminal);
  for (const { title, nouns } of groups) {
    program.commandsGroup(title);
    for (const noun of nouns) describeNoun(noun);
  }
  program.helpCommand("help [command...]", "print help");
  for (const command of program.commands) nameHelpAfterError(command, "breezeway");
  return program.addHelpText("after", "\nEvery command has its own help, as in: breezeway device get --help\n");

  function describeNoun({ name, alias, meaning, groups = {}, commands }: Noun): void {
    const isAlone = commands[0]?.name === name;
    const parent: ProgramCommand = isAlone ? program : program.command(name).description(meaning);
    if (!isAlone && alias !== undefined) parent.alias(alias);
    for (const command of commands) {
      const [, group = ""] = command.name.split(" ");
      describe(Object.hasOwn(groups, group) ? groupOf(parent, group, groups[group]!) : parent, command);
    }
  }

  function groupOf(parent: ProgramCommand, group: string, meaning: string): ProgramCommand {
    const known = parent.commands.find((one) => one.name() === group) as ProgramCommand | undefined;
    return known ?? parent.command(group).description(meaning);
  }

  function describe(parent: ProgramCommand, command: AdminCommand | OwnCommand): void {
    const described = parent.command(command.name.split(" ").at(-1)!).description(command.meaning);
    if ("alias" in command && command.alias !== undefined) described.alias(command.alias);
    const readTyped = describeWords(described, command);
    described.option("--json", "print one JSON object");
    if (isAdmin(command) && !onlyOnTheMachine.includes(command.name)) described.option(...serviceOption);
    withListedSettings(described);
    described.whenChosen(withHiddenSettings);
    described.action(async () => {
      const typed = readTyped();
      const print = printerFor(terminal, { json: described.opts().json === true });
      if (!isAdmin(command)) {
        const sources = sourcesOf(described);
        const call: Call = { typed, print, terminal, programs, program, sources, config: () => readConfig(sources) };
        const code = await command.run({ ...call, typed: { ...typed, json: described.opts().json } });
        if (typeof code === "number") ended(code);
        return;
      }
      const missing = command.arguments?.find(({ name }) => typed[name] === undefined);
      if (missing) described.error(`error: missing required argument '${missing.name}'`);
      const address = chosenAddress(described.opts().service, terminal);
      const administer = (name: string, input: Input, onProgress?: ReportProgress) =>
        address === undefined
          ? programs.administer(configOf(described), name, input, onProgress)
          : administerAt(address, terminal, name, input);
      const precheck = command.precheck?.(typed);
      if (precheck) await administer(precheck.command, precheck.input);
      const readsHere = address === undefined || !command.isReadOnMachine;
      const input = { ...typed, ...(readsHere && (await command.extraInput?.(typed, terminal))) };
      const answer = await progressOn(terminal).reporting("working", (onProgress) =>
        administer(command.name, input, onProgress),
      );
      print.data(answer, (shown) => command.toText(shown, typed, print.width));
      ended(command.exitCode?.(answer) ?? exitCodes.ok);
    });
  }
}

const serviceOption = [
  "--service <address>",
  "a service elsewhere, with an operator's token from BREEZEWAY_OPERATOR_TOKEN or BREEZEWAY_OPERATOR_TOKEN_FILE",
] as const;

/** Prints the programs' messages to standard error, over a progress bar that may be there. */
function printingTo({ environment, err }: Terminal, programs: EntryPoints): EntryPoints {
  const say = (sentence: string) =>
    void err.write(`${canRedraw({ environment }, err) ? "\r\u001b[K" : ""}${sentence}\n`);
  return {
    ...programs,
    administer: (config, command, input, onProgress) => programs.administer(config, command, input, onProgress, say),
    access: (config, request) => programs.access(config, request, say),
  };
}

/** An error names the help of the nearest command. */
function nameHelpAfterError(command: Command, parent: string): void {
  const name = `${parent} ${command.name()}`;
  if (command.commands.length > 0) command.helpCommand("help [command...]", "print help");
  command.showHelpAfterError(`(${name} --help lists its ${command.commands.length > 0 ? "commands" : "options"})`);
  for (const one of command.commands) nameHelpAfterError(one, name);
}

/** Adds arguments and options; returns a function that reads them after parsing. */
function describeWords(described: Command, { arguments: words = [], options, examples }: DescribedCommand) {
  for (const word of words) withArgument(described, word);
  options?.(described);
  withExamples(described, examples);
  const own = [...described.options];
  // By the names that the user typed, so that errors can use the same names.
  return (): Input => {
    const typed: Record<string, unknown> = {};
    for (const option of own) typed[option.long!.slice(2)] = described.getOptionValue(option.attributeName());
    words.forEach(({ name }, at) => {
      typed[name] = described.processedArgs[at] ?? typed[name];
    });
    return typed;
  };
}

/** Adds an argument: one word, or all that follow. */
function withArgument(command: Command, { name, meaning, isRequired, isList, choices }: Argument): Command {
  const shown = `${name}${isList ? "..." : ""}`;
  const argument = new CommandArgument(isRequired ? `<${shown}>` : `[${shown}]`, meaning);
  return command.addArgument(choices ? argument.choices(choices) : argument);
}

function withExamples(command: Command, examples: readonly string[]): Command {
  const shown = examples.map((one) => (/(^|[|] |^\w+=\S+ )breezeway /.test(one) ? one : `breezeway ${one}`));
  return command.addHelpText("after", `\nExamples:\n${shown.map((one) => `  ${one}`).join("\n")}`);
}

function outputTo(terminal: Terminal) {
  const { out, err } = terminal;
  return {
    writeOut: (text: string) => void out.write(text),
    writeErr: (text: string) => void err.write(text),
    getOutHelpWidth: () => Math.min(120, out.columns || 100),
    getErrHelpWidth: () => Math.min(120, err.columns || 100),
    getOutHasColors: () => hasColour(terminal, out),
    getErrHasColors: () => hasColour(terminal, err),
  };
}
