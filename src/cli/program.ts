import { Command, CommanderError } from "commander";
import { type Config, readConfig } from "../config.ts";
import type { AdminCommand, Terminal } from "./admin-command.ts";
import { exitCodeOf, exitCodes } from "./exit-codes.ts";
import type { Input } from "./input.ts";
import { runVerify, type VerifyTyped, verifyMeaning, verifyOptions } from "./nouns/verify.ts";
import { nouns } from "./nouns.ts";
import { present } from "./output.ts";
import { flagsOf, withSettings } from "./settings-flags.ts";
import { describeSimulatorCommands } from "./simulator-commands.ts";

/** What the command line can start; each resolves when it has ended. */
export interface Programs {
  serve(config: Config): Promise<void>;
  demo(config: Config, options: { readonly seed?: string }): Promise<void>;
  simulator(address: { readonly host: string; readonly port: number }): Promise<void>;
  /** Runs an administrator's command, in the running service or on the store itself. */
  administer(config: Config, command: string, input: object): Promise<object>;
}

/** Runs one command line and answers its exit code. */
export async function runCommandLine(args: readonly string[], programs: Programs, terminal: Terminal): Promise<number> {
  const program = describeProgram(programs, terminal);
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync([...args], { from: "user" });
    return exitCodes.ok;
  } catch (error) {
    // Commander has already said what was wrong with the line.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    process.stderr.write(`breezeway: ${error instanceof Error ? error.message : error}\n`);
    return exitCodeOf(error);
  }
}

function describeProgram(programs: Programs, terminal: Terminal): Command {
  const program = new Command("breezeway")
    .description("Links your users' home accounts, mirrors them live, and lets other clouds in.")
    .version(terminal.version, "--version", "print the version")
    .helpOption("-h, --help", "print help")
    .showHelpAfterError("(breezeway --help lists all commands)")
    // A command may have a --version of its own.
    .enablePositionalOptions()
    .exitOverride();
  const configOf = (command: Command) =>
    readConfig({ flags: flagsOf(command.opts()), environment: terminal.environment });

  withSettings(program.command("serve").description("run the service")).action((_, command: Command) =>
    programs.serve(configOf(command)),
  );
  withSettings(
    program
      .command("demo")
      .description("run the service with a simulated house that is already linked")
      .option("--seed <text>", "makes a house, and a life in it, that are the same each time (default: 7)"),
  ).action((options: { seed?: string }, command: Command) => programs.demo(configOf(command), options));
  program
    .command("simulator")
    .description("run the simulated home ecosystem alone")
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option("--port <number>", "the port to listen on; 0 takes a free one", "8090")
    .action((options: { host: string; port: string }) =>
      programs.simulator({ host: options.host, port: Number(options.port) }),
    );

  for (const { name, meaning, commands } of nouns) {
    const isAlone = commands[0]?.name === name;
    const parent = isAlone ? program : program.command(name).description(meaning);
    for (const command of commands) describe(parent, command);
  }
  describeSimulatorCommands(program);
  withSettings(verifyOptions(program.command("verify").description(verifyMeaning)), { areOfService: false }).action(
    (typed: VerifyTyped, command: Command) => {
      const config = configOf(command);
      return runVerify(typed, {
        ...terminal,
        config,
        administer: (name, input) => programs.administer(config, name, input),
      });
    },
  );
  return program;

  function describe(parent: Command, { name, meaning, options, bring, tell }: AdminCommand): void {
    const described = parent
      .command(name.split(" ").at(-1)!)
      .description(meaning)
      .showHelpAfterError(`(breezeway ${name} --help lists its options)`);
    options?.(described);
    const own = [...described.options];
    withSettings(described.option("--json", "print one JSON object"), { areOfService: false });
    described.action(async (_, command: Command) => {
      const config = configOf(command);
      // By the names that were typed: what is wrong with one is told in the same words.
      const typed: Input = Object.fromEntries(
        own.map((option) => [option.long!.slice(2), command.getOptionValue(option.attributeName())]),
      );
      const input = { ...typed, ...(await bring?.(typed, terminal)) };
      const answer = await programs.administer(config, name, input);
      present(answer, (shown) => tell(shown, typed), command.opts().json === true);
    });
  }
}
