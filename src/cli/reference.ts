import type { Command } from "commander";
import type { EntryPoints } from "./programs.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** The commands, only for reading their descriptions: none of them can run. */
export function programToDescribe(describe: (programs: EntryPoints, terminal: Terminal) => Command): Command {
  const silent = { columns: 100, write: () => undefined };
  const input = process.stdin;
  return describe({} as EntryPoints, {
    environment: { NO_COLOR: "1" },
    build: { version: "", commit: "", schema: 0 },
    input,
    out: silent,
    err: silent,
  });
}

/** The text of docs/command-line.md, generated from the commands. */
export function commandLineReference(program: Command): string {
  const nouns = program.commands.map((noun) => {
    const title = [noun.name(), ...noun.aliases()].map((name) => `\`${name}\``).join(", ");
    if (noun.commands.length === 0) return sectionOf(noun, [noun.name()], "##");
    const verbs = noun.commands.flatMap((verb) => sectionsOf(verb, [noun.name(), verb.name()], "###"));
    return [`## ${title}`, sentence(noun.description()), ...verbs].join("\n\n");
  });
  return `${[introduction, onThePath, ...nouns].join("\n\n")}\n`;
}

const onThePath = `The examples need \`breezeway\` on the path. In the folder of the clone:

\`\`\`bash
export PATH="$PWD/bin:$PATH"
\`\`\``;

/** A command, and those below it: `home alert` has `home alert list` and others. */
function sectionsOf(command: Command, path: readonly string[], heading: string): readonly string[] {
  const below = command.commands.flatMap((one) => sectionsOf(one, [...path, one.name()], `${heading}#`));
  return [sectionOf(command, path, heading), ...below];
}

function sectionOf(command: Command, path: readonly string[], heading: string): string {
  const help = command.createHelp();
  const words = command.registeredArguments.map((one) => {
    const shown = `${one.name()}${one.variadic ? "..." : ""}`;
    return one.required ? `<${shown}>` : `[${shown}]`;
  });
  const usage = ["breezeway", ...path, ...words].join(" ");
  const isSetting = (long: string | undefined) => command.options.find((one) => one.long === long)?.helpGroupHeading;
  const rows = [
    ...command.registeredArguments.map((one) => `| \`${one.name()}\` | ${cell(one.description)} |`),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== "--help" && !isSetting(long))
      .map((one) => `| \`${one.flags}\` | ${cell(one.description)}${defaultOf(one.defaultValue)} |`),
  ];
  const table = rows.length === 0 ? [] : [["| | |", "|---|---|", ...rows].join("\n")];
  const aliases = command.aliases().map((name) => ` Also \`${name}\`.`);
  return [`${heading} ${usage}`, `${sentence(command.description())}${aliases.join("")}`, ...table, examplesOf(command)]
    .filter((part) => part !== "")
    .join("\n\n");
}

function examplesOf(command: Command): string {
  let text = "";
  const { writeOut, ...others } = command.configureOutput();
  command.configureOutput({ ...others, writeOut: (part) => (text += part) });
  command.outputHelp();
  command.configureOutput({ ...others, ...(writeOut && { writeOut }) });
  const [, examples = ""] = text.split("\nExamples:\n");
  const lines = examples
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return lines.length === 0 ? "" : ["```bash", ...lines, "```"].join("\n");
}

function defaultOf(value: unknown): string {
  return value === undefined ? "" : ` (default: \`${value}\`)`;
}

function sentence(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

const introduction = `# The command line

\`breezeway <noun> <verb>\`; every noun works in singular and plural. The program writes this page.

- **Data** goes to standard output: a table on a terminal, one JSON object when it is piped or with \`--json\`, one JSON object per line from commands that watch. Other text, progress and errors go to standard error.
- **Which service.** By default a command talks to the service that runs on this machine's data folder (\`--data\`), through its control socket, as its administrator. Commands about tenants, users and clients also work while no service runs. \`--url\` or \`BREEZEWAY_URL\` names an address, with a token from \`BREEZEWAY_TOKEN\` or \`BREEZEWAY_TOKEN_FILE\`; \`--profile\` or \`BREEZEWAY_PROFILE\` names both.
- **No store.** Where there is no store, a command says which folder it looked in, makes nothing, and exits with 5. Only \`serve\`, \`demo\`, \`restore\` and \`tenant add\` make a store.
- **Secrets** are never flags: they come from standard input, from a variable, or from a prompt that does not show them.
- **Colour and progress** are for terminals; \`NO_COLOR\`, \`CI\` and \`TERM=dumb\` are obeyed, \`FORCE_COLOR\` turns colour on in a pipe.
- **Exit codes**: 0 ok, 1 failed, 2 usage (the command was typed wrongly), 3 configuration, 4 not authorised (a password, a token or a client's secret was refused, by the service or by the ecosystem), 5 not found, 6 unreachable, 7 conflict. Ctrl-C is 130.
- **Ids** that are random text (clients, webhooks, simulated accounts) may be shortened to their first characters, at least four; if several ids match, the command lists them. Numeric ids are typed in full.
- **Times** in tables are relative ("3 min ago"); \`--json\` and \`show\` have them in full.
- **While a service starts**, a command waits for it, 30 s at most, and says so on standard error.
- **Settings.** Every command except \`sim\` and \`simulator\` takes the settings of the service as flags; \`breezeway serve --help\` lists them.`;
