import type { Command } from "commander";
import { nearestWord } from "../config/nearest-word.ts";
import { BadParameter, EcosystemUnreachable, NotFound } from "../model/errors.ts";
import { demoSimulator } from "./demo-simulator.ts";
import { idByPrefix } from "./id-prefix.ts";
import { printerFor, table, whole } from "./terminal/output.ts";
import type { Terminal } from "./terminal/terminal.ts";

const defaultUrl = "http://127.0.0.1:8090";

/** `breezeway sim …`: controls a running simulator through its control interface. */
export function describeSimulatorCommands(program: Command, terminal: Terminal): void {
  const present = (answer: object, toText: (answer: Answer) => string, json: boolean) =>
    printerFor(terminal, { json }).data(answer, toText);
  const sim = program.command("sim").description("play scenes and set faults in a running simulator");
  const withSimulatorOptions = (command: Command) =>
    command
      .addOption(
        command
          .createOption("--simulator <url>", "where the simulator listens")
          .default(demoSimulator(terminal.environment.BREEZEWAY_DATA) ?? defaultUrl, `the demo's, or ${defaultUrl}`),
      )
      .option("--json", "print one JSON object");

  withSimulatorOptions(
    sim.command("accounts").description("list the simulated accounts").addHelpText("after", example("sim accounts")),
  ).action(async (options: SimulatorAddress) =>
    present(await call(options, "GET", "accounts"), accountsText, options.json === true),
  );
  withSimulatorOptions(
    sim.command("scenes").description("list the scenes that can be played").addHelpText("after", example("sim scenes")),
  ).action(async (options: SimulatorAddress) =>
    present(await call(options, "GET", "scenes"), scenesText, options.json === true),
  );
  withSimulatorOptions(
    sim
      .command("trigger")
      .description("play a scene in an account")
      .addHelpText("after", example("sim trigger smoke", 'sim trigger rename structure=1 name="Elm Street"'))
      .argument("<scene>", "its name; see: breezeway sim scenes")
      .argument("[name=value...]", "the scene's arguments")
      .option("--account <id>", "the account's id or the beginning of it; may be left out when there is only one"),
  ).action(async (scene: string, words: string[], options: SimulatorAddress & { account?: string }) => {
    const { scenes } = (await call(options, "GET", "scenes")) as Answer;
    const names = scenes.map(({ name }: Answer) => name);
    refuseUnknown("scene", scene, names, "breezeway sim scenes");
    const account = await chosenAccount(options);
    const played = { scene, ...readArguments(words) };
    const outcome = await call(options, "POST", `accounts/${encodeURIComponent(account)}/scene`, played);
    present(outcome, playedText, options.json === true);
  });
  withSimulatorOptions(
    sim
      .command("fault")
      .description("set a fault; without a name, list all faults and those that are set")
      .addHelpText("after", example("sim fault", "sim fault server-error status=503", "sim fault --clear"))
      .argument("[fault]", "its name")
      .argument("[name=value...]", "the fault's arguments")
      .option("--account <id>", "for one account only")
      .option("--clear", "clear all faults"),
  ).action(
    async (
      fault: string | undefined,
      words: string[],
      options: SimulatorAddress & { account?: string; clear?: true },
    ) => {
      if (fault !== undefined) {
        const { kinds } = (await call(options, "GET", "faults")) as Answer;
        const names = kinds.map((kind: Answer) => kind.fault);
        refuseUnknown("fault", fault, names, "breezeway sim fault");
      }
      if (options.clear) await call(options, "DELETE", "faults");
      const account = options.account === undefined ? {} : { accountId: await chosenAccount(options) };
      const outcome = fault
        ? await call(options, "POST", "faults", { fault, ...account, ...readArguments(words) })
        : await call(options, "GET", "faults");
      present(outcome, fault ? faultSetText : faultsText, options.json === true);
    },
  );
}

function example(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  breezeway ${line}`).join("\n")}`;
}

// biome-ignore lint/suspicious/noExplicitAny: what the simulator answers has come as JSON
type Answer = any;

const accountsText = ({ accounts }: Answer) =>
  table(
    [whole("ACCOUNT"), "STRUCTURES", "THERMOSTATS", "ALARMS"],
    accounts.map(({ accountId, structures, thermostats, alarms }: Answer) => [
      accountId,
      structures.map(({ name }: Answer) => name).join(", "),
      thermostats,
      alarms,
    ]),
  );

const scenesText = ({ scenes }: Answer) =>
  table(
    ["SCENE", "WHAT HAPPENS"],
    scenes.map(({ name, meaning }: Answer) => [name, meaning]),
  );

const playedText = ({ scene, revision }: Answer) =>
  revision === undefined ? `Played ${scene}.` : `Played ${scene}; the account is at revision ${revision}.`;

const faultSetText = ({ fault }: Answer) => `Set the fault ${fault}. Clear it with: breezeway sim fault --clear`;

function faultsText({ kinds, active }: Answer): string {
  const faultsSet = active.map(({ fault }: Answer) => fault).join(", ");
  const known = table(
    ["FAULT", "WHAT BREAKS"],
    kinds.map(({ fault, meaning }: Answer) => [fault, meaning]),
  );
  return `${known}\n\n${faultsSet ? `Faults that are set: ${faultsSet}.` : "No fault is set."}`;
}

interface SimulatorAddress {
  readonly simulator: string;
  readonly json?: true;
}

/** The account with the typed id or prefix; otherwise the only account. */
async function chosenAccount({
  account,
  ...address
}: SimulatorAddress & { readonly account?: string }): Promise<string> {
  const { accounts } = (await call(address, "GET", "accounts")) as Answer;
  if (account !== undefined) {
    const known = accounts.map(({ accountId, structures }: Answer) => ({
      id: accountId,
      words: structures.map(({ name }: Answer) => name).join(", "),
    }));
    return idByPrefix("account", account, known);
  }
  const [first, second] = accounts;
  if (!first) throw new NotFound("The simulator has no account yet. Make one with: breezeway demo");
  if (second) throw new BadParameter("account", "There are several accounts. Choose one with --account.");
  return first.accountId;
}

function refuseUnknown(what: string, word: string, known: readonly string[], all: string): void {
  if (known.includes(word)) return;
  const nearest = nearestWord(word, known);
  const guess = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  throw new BadParameter(what, `There is no ${what} ${word}.${guess} All: ${all}`);
}

/** `structure=1 name="Kitchen"`: a value that is valid JSON is parsed, any other is text. */
function readArguments(words: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf("=");
      if (at < 1) throw new BadParameter(word, `"${word}" should be name=value.`);
      const text = word.slice(at + 1);
      try {
        return [word.slice(0, at), JSON.parse(text)];
      } catch {
        return [word.slice(0, at), text];
      }
    }),
  );
}

async function call({ simulator }: SimulatorAddress, method: string, path: string, body?: object): Promise<object> {
  let answer: Response;
  try {
    const content = body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    answer = await fetch(`${simulator.replace(/\/$/, "")}/simulator/${path}`, {
      method,
      redirect: "error",
      ...content,
    });
  } catch (error) {
    throw new EcosystemUnreachable(
      `No simulator answers at ${simulator}. Start one with: breezeway simulator, or breezeway demo`,
      { cause: error },
    );
  }
  const result = jsonOf(await answer.text());
  if (answer.ok && result !== undefined) return result;
  if (result?.message === undefined) throw anotherProgram(simulator, answer.status);
  const message = String(result.message);
  throw answer.status === 404 ? new NotFound(message) : new BadParameter(path, message);
}

function jsonOf(text: string): Answer {
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function anotherProgram(simulator: string, status: number): NotFound {
  return new NotFound(
    `${simulator} answered ${status}: no simulator of Breezeway listens there. Name its address with --simulator; the demo's banner shows it.`,
  );
}
