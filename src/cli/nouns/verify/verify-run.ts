import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { SimulatorControl } from "../../../../verify/client/simulator-control.ts";
import type { Report } from "../../../../verify/report/report.ts";
import { reportPage } from "../../../../verify/report/report-page.ts";
import { reportText } from "../../../../verify/report/report-text.ts";
import { type Administer, addTemporaryTenant, type TemporaryTenant } from "../../../../verify/temporary-tenant.ts";
import { DeploymentUnreachable, verify } from "../../../../verify/verify.ts";
import type { VerifyInput } from "../../../../verify/verify-input.ts";
import { canBeServed } from "../../../../verify/visitor/by-hand-visitor.ts";
import type { Config } from "../../../config/config.ts";
import { BadParameter, EcosystemUnreachable, NotFound, NotRunning } from "../../../model/errors.ts";
import { plainAddress } from "../../../model/setting-checks.ts";
import { untilSignalled } from "../../../runtime/process/signals.ts";
import type { Call } from "../../command.ts";
import { demoSimulator } from "../../demo-simulator.ts";
import { ecosystemName } from "../../ecosystems.ts";
import { exitCodes } from "../../exit-codes.ts";
import { hasColour } from "../../terminal/terminal.ts";

/** The options of the command line. */
interface VerifyTyped {
  readonly url?: string;
  readonly "client-id"?: string;
  readonly "redirect-uri": string;
  readonly user?: string;
  readonly browser?: true;
  readonly "app-id"?: string;
  readonly device?: string;
  readonly simulator?: string;
  readonly patient?: true;
  readonly report?: string;
}

/** What `prepare` needs besides the options. */
interface VerifyRuntime {
  readonly config: Config;
  /** The name of the simulated ecosystem in the deployment's configuration. */
  readonly ecosystem: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly administer: Administer;
}

/** Runs a verification, prints its report and returns the exit code. */
export async function runVerify({ typed: options, terminal, programs, print, ...call }: Call): Promise<number> {
  const typed = options as unknown as VerifyTyped;
  const config = call.config();
  const administer: Administer = (name, input) => programs.administer(config, name, input);
  const interrupted = untilSignalled();
  const runtime = {
    config,
    ecosystem: ecosystemName({ typed: options, sources: call.sources }),
    environment: terminal.environment,
    administer,
  };
  const { input, temporary, isOurs } = await prepare(typed, runtime, interrupted);
  let report: Report;
  try {
    report = await verify(input, { signal: interrupted, version: terminal.build.version, say, begins: progress() });
  } catch (error) {
    if (error instanceof DeploymentUnreachable) throw new EcosystemUnreachable(error.message);
    throw interrupted.aborted ? new Error("Interrupted; verify removes the data that it has created.") : error;
  } finally {
    clearProgress();
    for (const leftover of (await temporary?.remove()) ?? []) say(`Could not remove ${leftover}.`);
  }
  if (isOurs) await keep(report, administer);
  if (typed.report !== undefined) saveReport(typed.report, report);
  const shown = { hasColour: hasColour(terminal, terminal.out), width: Math.min(print.width, 100) };
  print.data(report, () => reportText(report, shown));
  const { fail } = report.counts;
  if (fail > 0) print.words(`${fail} of ${report.rows.length} rows failed.`);
  return fail > 0 ? exitCodes.failed : exitCodes.ok;
}

interface Prepared {
  readonly input: VerifyInput;
  readonly temporary?: TemporaryTenant;
  /** Verify can administer the deployment. */
  readonly isOurs: boolean;
}

/**
 * The input from options and environment. Without `--client-id`, verify adds a temporary tenant if it can administer
 * the store of the deployment.
 */
async function prepare(typed: VerifyTyped, runtime: VerifyRuntime, interrupted: AbortSignal): Promise<Prepared> {
  const { administer, config, ecosystem } = runtime;
  const running = await runningHere(runtime);
  const url = httpAddress("url", typed.url ?? running ?? ownAddress(config));
  const typedSimulator = typed.simulator === undefined ? undefined : httpAddress("simulator", typed.simulator);
  const base = {
    url,
    client: undefined,
    person: undefined,
    signsInByHand: typed.browser === true,
    appId: typed["app-id"],
    deviceId: typed.device === undefined ? undefined : deviceId(typed.device),
    foreignDeviceId: undefined,
    simulator: typedSimulator === undefined ? undefined : { url: typedSimulator, isAssumed: false },
    ecosystem,
    isPatient: typed.patient === true,
  };
  if (typedSimulator !== undefined && !(await new SimulatorControl(typedSimulator).isThere())) {
    throw new EcosystemUnreachable(`No simulator answers at ${typedSimulator}. Start one with: breezeway simulator`);
  }
  const isOurs = config.databaseUrl !== undefined || (running !== undefined && running === url);
  if (typed["client-id"] !== undefined) return { input: { ...base, ...(await credentials(typed, runtime)) }, isOurs };
  if (typed.user !== undefined || typed.browser) {
    throw new BadParameter("client-id", "--client-id is missing: a user signs in through a client.");
  }
  if (!isOurs) return { input: base, isOurs };
  const simulator = base.simulator ?? (await simulatorOf(config, ecosystem));
  const isCostly = config.databaseUrl !== undefined;
  const temporary = await addTemporaryTenant(administer, { isInterrupted: () => interrupted.aborted, isCostly });
  return { input: { ...base, ...temporary.input, simulator }, temporary, isOurs };
}

/** The demo's simulator, or the configured ecosystem if it is a simulator. */
async function simulatorOf({ dataFolder, ecosystems }: Config, ecosystem: string): Promise<VerifyInput["simulator"]> {
  const configured = ecosystems.find(({ name }) => name === ecosystem.toLowerCase())?.apiUrl;
  for (const url of [demoSimulator(dataFolder), configured]) {
    if (url !== undefined && (await new SimulatorControl(url).isThere())) return { url, isAssumed: true };
  }
  return undefined;
}

/** The address of the service that runs on this data folder; undefined when none runs, and on PostgreSQL. */
async function runningHere({ administer }: VerifyRuntime): Promise<string | undefined> {
  const { baseUrl } = await administer("status", {}).catch((error) => {
    // There is no store in this folder.
    if (error instanceof NotFound) return {};
    throw error;
  });
  return baseUrl;
}

/**
 * The address in the configuration. Without one it throws on SQLite: a service that does not run on this data folder is
 * another deployment, and `--url` must name it.
 */
function ownAddress({ baseUrl, host, port, databaseUrl, dataFolder }: Config): string {
  if (baseUrl !== undefined) return baseUrl;
  if (databaseUrl !== undefined) return plainAddress(host, port);
  throw new NotRunning(
    `No service runs on ${resolve(dataFolder)}. Start one with: breezeway serve. Or name another folder with --data, or a deployment with --url.`,
  );
}

async function credentials(typed: VerifyTyped, { environment }: VerifyRuntime) {
  const input = linesOfInput();
  const secret = async (variable: string) => {
    const file = environment[`${variable}_FILE`];
    if (environment[variable]) return environment[variable];
    const read = file ? fileText(`${variable}_FILE`, file).trim() : await input.next();
    if (read) return read;
    throw new BadParameter(variable, `${variable} is missing. Set it, or ${variable}_FILE, or pipe it in.`);
  };
  if (typed.browser && typed.user !== undefined) {
    throw new BadParameter("browser", "--browser lets you sign in yourself: leave out --user.");
  }
  if (typed.browser && !canBeServed(typed["redirect-uri"])) {
    throw new BadParameter(
      "redirect-uri",
      "--redirect-uri must be http://127.0.0.1:<port>/… to be served with --browser.",
    );
  }
  try {
    const client = {
      id: typed["client-id"]!,
      secret: await secret("BREEZEWAY_CLIENT_SECRET"),
      redirectUri: typed["redirect-uri"],
    };
    const person =
      typed.user === undefined ? undefined : { name: typed.user, password: await secret("BREEZEWAY_PASSWORD") };
    return { client, person };
  } finally {
    // An open standard input would keep the process alive.
    input.close();
  }
}

/** Reads standard input: `next` returns one line at each call, and "" if standard input is a terminal. */
function linesOfInput() {
  let lines: ReturnType<typeof createInterface> | undefined;
  let iterator: AsyncIterator<string> | undefined;
  return {
    async next(): Promise<string> {
      if (process.stdin.isTTY) return "";
      lines ??= createInterface({ input: process.stdin });
      iterator ??= lines[Symbol.asyncIterator]();
      return (await iterator.next()).value ?? "";
    },
    close: () => lines?.close(),
  };
}

function fileText(variable: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new BadParameter(variable, `${variable} names a file that can't be read (${(error as Error).message}).`);
  }
}

function httpAddress(option: string, text: string): string {
  if (URL.canParse(text) && /^https?:\/\//.test(text) && !/[?#]/.test(text)) return text.replace(/\/+$/, "");
  throw new BadParameter(
    option,
    `--${option} must be an address that begins with http:// or https://, without a query.`,
  );
}

function deviceId(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new BadParameter("device", "--device must be a device's id.");
}

/** Stores the report in the deployment, where the console shows it. An older service can't, and the report is printed anyway. */
async function keep(report: Report, administer: Administer): Promise<void> {
  await administer("verification keep", { report }).catch((error) => {
    if (!(error instanceof NotFound)) say(`The report could not be stored in the deployment (${error.message}).`);
  });
}

function saveReport(folder: string, report: Report): void {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "verify.json"), `${JSON.stringify(report, undefined, 2)}\n`);
    writeFileSync(join(folder, "verify.html"), reportPage(report));
  } catch (error) {
    throw new BadParameter("report", `--report: the report can't be written (${(error as Error).message}).`);
  }
  say(`Report: ${join(folder, "verify.html")}`);
}

function say(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

/** Shows the current row in one line that is redrawn in place. Prints nothing without a terminal. */
function progress() {
  if (!process.stderr.isTTY) return () => undefined;
  return ({ title }: { readonly title: string }, place: number, count: number) =>
    void process.stderr.write(`\r\x1b[K${place + 1}/${count}  ${title} …`);
}

function clearProgress(): void {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
}
