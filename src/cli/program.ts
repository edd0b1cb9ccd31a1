import { Command, CommanderError } from "commander";
import { type Config, readConfig, settings } from "../config.ts";
import { exitCodeOf, exitCodes } from "./exit-codes.ts";
import { present } from "./output.ts";
import { readPassword } from "./password.ts";
import { describeSimulatorCommands } from "./simulator-commands.ts";

/** What the command line can start; each resolves when it has ended. */
export interface Programs {
  serve(config: Config): Promise<void>;
  demo(config: Config): Promise<void>;
  simulator(address: { readonly host: string; readonly port: number }): Promise<void>;
  /** Runs an administrator's command, in the running service or on the store itself. */
  administer(config: Config, command: string, input: object): Promise<object>;
}

export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
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
    .exitOverride();
  const config = (options: Options) => readConfig({ flags: flagsOf(options), environment: terminal.environment });

  configured(program.command("serve").description("run the service")).action((options: Options) =>
    programs.serve(config(options)),
  );
  configured(
    program.command("demo").description("run the service with a simulated house that is already linked"),
  ).action((options: Options) => programs.demo(config(options)));
  program
    .command("simulator")
    .description("run the simulated home ecosystem alone")
    .option("--host <address>", "the address to listen on", "127.0.0.1")
    .option("--port <number>", "the port to listen on; 0 takes a free one", "8090")
    .action((options: { host: string; port: string }) =>
      programs.simulator({ host: options.host, port: Number(options.port) }),
    );

  const administer = (command: Command, name: string, read: (options: Options) => Promise<object> | object) =>
    configured(command)
      .option("--json", "print one JSON object")
      .action(async (options: Options) => {
        const result = await programs.administer(config(options), name, await read(options));
        present(name, result, options.json === true);
      });
  const tenant = program.command("tenant").description("companies whose users and clients are served here");
  administer(
    tenant
      .command("add")
      .description("add a tenant")
      .requiredOption("--name <name>", "its name")
      .option("--app-id <number>", "its id, the appId of platform calls; a free one when left out"),
    "tenant add",
    ({ name, appId }) => ({ name, "app-id": appId }),
  );
  administer(tenant.command("list").description("list all tenants"), "tenant list", () => ({}));
  administer(
    program
      .command("user")
      .description("people who sign in")
      .command("add")
      .description("add a user; the password comes from standard input or BREEZEWAY_PASSWORD")
      .requiredOption("--tenant <name or id>", "the tenant")
      .requiredOption("--name <name>", "the name to sign in with")
      .option("--admin", "may give enterprise clients access to the whole tenant"),
    "user add",
    async ({ tenant, name, admin }) => ({
      tenant,
      name,
      admin: admin === true,
      password: await readPassword(terminal.environment),
    }),
  );
  administer(
    program
      .command("device")
      .description("devices of users")
      .command("add")
      .description("give a user an ordinary device")
      .requiredOption("--user <id>", "the user's id")
      .requiredOption("--name <name>", "the device's name")
      .requiredOption("--type <name>", "the device type's name"),
    "device add",
    ({ user, name, type }) => ({ user, name, type }),
  );
  administer(program.command("status").description("tell how the service stands"), "status", () => ({}));
  describeSimulatorCommands(program);
  return program;
}

type Options = Readonly<Record<string, string | boolean | undefined>>;

/** Every setting of the service as a flag; what isn't given comes from the environment. */
function configured(command: Command): Command {
  for (const { flag, meaning, shown, isSecret } of Object.values(settings)) {
    // A secret never travels in a command line, where other users of the machine can read it.
    if (!isSecret) command.option(`--${flag} <value>`, `${meaning} (default: ${shown})`);
  }
  return command;
}

function flagsOf(options: Options): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.values(settings).map(({ flag }) => {
      const value = options[flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
      return [flag, typeof value === "string" ? value : undefined];
    }),
  );
}
