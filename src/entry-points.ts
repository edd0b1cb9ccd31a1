import { resolve } from "node:path";
import type { ServiceFacts } from "./cli/administration/admin-command.ts";
import { callControl, NoServiceListening, ServiceSilent } from "./cli/administration/control-socket.ts";
import { commandsForLostKeys } from "./cli/nouns/key.ts";
import type { CommandCredentials, EntryPoints, Inspection, Moved, Restored, Say } from "./cli/programs.ts";
import type { ReportProgress } from "./cli/terminal/progress.ts";
import { type Config, ConfigurationError } from "./config/config.ts";
import { lackOfEcosystems, lacksEcosystems } from "./config/ecosystem-settings.ts";
import type { ShownSetting } from "./config/shown-settings.ts";
import { refuseTakenPort } from "./http/connection/listening.ts";
import { NotFound, NotRunning } from "./model/errors.ts";
import { plainAddress } from "./model/setting-checks.ts";
import { anyAborted, endingWith, untilSignalled } from "./runtime/process/signals.ts";
import { currentSystemUser } from "./runtime/process/system-user.ts";
import { version } from "./runtime/process/version.ts";
import { whenReachable } from "./service/waiting-for-start.ts";
import { type DataFolder, dataFolder } from "./store/disk/data-folder.ts";

// Modules are loaded when a command needs them, so that help and mistyped commands are answered at once.
const loadLogging = async () => (await import("./runtime/process/log.ts")).startLogging;

/** The programs that the command line starts, and how it reaches a store or a running service. */
export const programs: EntryPoints = {
  serve,
  demo: async (config, options) => (await import("../demo/demo.ts")).runDemo(config, { version, ...options }),
  simulator: async (address) => (await import("../simulator/main.ts")).runSimulator(address, untilSignalled()),
  administer,
  access,
  restore,
  migrate,
  inspect,
};

/** Read-only commands. They give up early, so that an operator sees that the service does not answer. */
const showsState: ReadonlySet<string> = new Set(["status", "link facts", "user show", "device owners"]);
const acknowledgeMs = 4_000;

/** The only command that creates a store. All others refuse where there is none: an empty store would hide a wrong folder. */
const firstCommand = "tenant add";

async function serve(config: Config, settings: readonly ShownSetting[]): Promise<void> {
  const stopSignal = untilSignalled();
  await sayIfNew(config, say, () => refuseTakenPort(config.host, config.port));
  if (
    lacksEcosystems(
      settings,
      config.ecosystems.some(({ consent }) => consent !== undefined),
    )
  ) {
    say(`${lackOfEcosystems.sentence} ${lackOfEcosystems.fix}`);
  }
  const startLogging = await loadLogging();
  const { startService } = await import("./service/service.ts");
  const { untilUncaught } = await import("./runtime/process/uncaught-errors.ts");
  const report = startLogging(config.logLevel);
  const fatal = untilUncaught(report);
  // A start may wait for minutes, for example while another node changes the schema. It may end anywhere: each step of the
  // schema is one transaction.
  const service = await endingWith(stopSignal, startService(config, report, undefined, { settings }));
  // Without a certificate there is nothing to reload, and SIGHUP keeps its usual meaning.
  if (config.tlsCertFile) process.on("SIGHUP", () => service.reload());
  say(`breezeway listening on ${service.baseUrl}`);
  const { offerClaim } = await import("./service/claim-offer.ts");
  const { operators } = service.parts;
  const endOffer = await offerClaim(
    { operators, baseUrl: service.baseUrl, say },
    { input: process.stdin, output: process.stderr },
  );
  await anyAborted(stopSignal, fatal);
  endOffer();
  // Draining helps only where other nodes can take new requests. At a terminal (Ctrl-C, SIGHUP) it would only delay the end.
  const isDrained = config.databaseUrl !== undefined && stopSignal.reason === "SIGTERM" && !fatal.aborted;
  await service.stop({ drainMs: isDrained ? config.drainSeconds * 1_000 : 0 });
}

/** A line with its time: a journal or log file keeps it beside the service's log lines. */
function say(sentence: string): void {
  process.stderr.write(`${new Date().toISOString()} ${sentence}\n`);
}

/** Runs a command in the running service if there is one, so that its caches stay correct; otherwise on the store. */
async function administer(
  config: Config,
  command: string,
  input: object,
  onProgress?: ReportProgress,
  say: Say = () => undefined,
): Promise<object> {
  const onStore = () => onTheStore(config, command, input, onProgress, say);
  if (config.databaseUrl) return onStore();
  const folder = dataFolder(config.dataFolder);
  const acknowledgeWithinMs = showsState.has(command) ? acknowledgeMs : undefined;
  const overSocket = () => callControl(folder.trustedSocket(), command, input, onProgress, acknowledgeWithinMs);
  return whenReachable(folder, { overSocket, otherwise: onStore }, say);
}

/** A command that speaks with the service needs one that runs: with SQLite on this folder, else at its address. */
async function access(config: Config, wanted: object, say: Say = () => undefined): Promise<CommandCredentials> {
  if (config.databaseUrl) {
    const baseUrl = config.baseUrl ?? plainAddress(config.host, config.port);
    return { ...(await onTheStore(config, "access", wanted)), baseUrl } as CommandCredentials;
  }
  const folder = dataFolder(config.dataFolder);
  const overSocket = async () =>
    (await callControl(folder.trustedSocket(), "access", wanted, undefined, acknowledgeMs)) as CommandCredentials;
  const otherwise = async () => {
    throw new NotRunning(
      `No service runs on ${folder.path}. Start one with: breezeway serve (or breezeway demo). Or name another folder with --data, or a service elsewhere with --url or --profile.`,
    );
  };
  return whenReachable(folder, { overSocket, otherwise }, say);
}

async function onTheStore(
  config: Config,
  command: string,
  input: object,
  onProgress?: ReportProgress,
  say?: Say,
): Promise<object> {
  if (command === firstCommand) await sayIfNew(config, say);
  else await refuseWithoutStore(config);
  const startLogging = await loadLogging();
  const { openParts } = await import("./service/parts.ts");
  const mayLackKeys = commandsForLostKeys.includes(command);
  const parts = await openParts(config, startLogging("warn"), undefined, { mayLackKeys });
  try {
    return await parts.administration.run(command, input, { onProgress, caller: currentSystemUser() });
  } finally {
    await parts.close();
  }
}

/** `check` runs before a new store is announced and made: a start that must fail leaves no folder behind. */
async function sayIfNew(
  config: Config,
  say: Say = () => undefined,
  check: () => Promise<void> = async () => undefined,
): Promise<void> {
  const { hasStore } = await import("./store/inspection.ts");
  if (await hasStore(storePlaceOf(config))) return;
  await check();
  say(`Making a new store in ${placeOf(config)}.`);
}

async function refuseWithoutStore(config: Config): Promise<void> {
  const { hasStore } = await import("./store/inspection.ts");
  if (await hasStore(storePlaceOf(config))) return;
  const another = config.databaseUrl
    ? "Name another one with BREEZEWAY_DATABASE_URL."
    : "Name another folder with --data or BREEZEWAY_DATA.";
  throw new NotFound(
    `There is no store in ${placeOf(config)}. ${another} A new store begins with: breezeway ${firstCommand} --name NAME, or breezeway serve.`,
  );
}

function placeOf({ databaseUrl, dataFolder: configuredFolder }: Config): string {
  return databaseUrl ? "the database that BREEZEWAY_DATABASE_URL names" : dataFolder(configuredFolder).path;
}

function storePlaceOf({ databaseUrl, dataFolder: configuredFolder }: Config) {
  return { databaseUrl, folder: dataFolder(configuredFolder).path };
}

/** Reads the state of the configured store, and where the service that uses it listens. Changes nothing. */
async function inspect(config: Config): Promise<Inspection> {
  const { inspectStore } = await import("./store/inspection.ts");
  const folder = dataFolder(config.dataFolder);
  const keyFile = config.keyFile ?? folder.keyFile;
  const isRunning = !config.databaseUrl && folder.isInUse();
  return {
    isRunning,
    listensAt: isRunning ? await listeningAddress(folder) : undefined,
    keyFile,
    ...(await inspectStore(storePlaceOf(config), keyFile)),
  };
}

/** The service's own answer. A service of an older version knows only the address that it gives to clients. */
async function listeningAddress(folder: DataFolder): Promise<string | undefined> {
  const ask = async (command: string) =>
    (await callControl(folder.trustedSocket(), command, {}, undefined, acknowledgeMs)) as ServiceFacts;
  try {
    return (await ask("listening")).listensAt;
  } catch (error) {
    if (error instanceof NoServiceListening || error instanceof ServiceSilent) return undefined;
    return ask("status").then(
      ({ baseUrl }) => baseUrl,
      () => undefined,
    );
  }
}

async function restore(config: Config, from: string): Promise<Restored> {
  if (config.databaseUrl) {
    throw new ConfigurationError([
      "BREEZEWAY_DATABASE_URL is set: PostgreSQL is restored with its own tools (docs/operations.md)",
    ]);
  }
  const { restoreBackup } = await import("./store/backup/restore.ts");
  const folder = dataFolder(config.dataFolder);
  const keyFile = config.keyFile ?? folder.keyFile;
  const { manifest, ...restored } = await restoreBackup({ from, folder, keyFile });
  const { version: madeBy, schema, time } = manifest;
  return { folder: folder.path, ...restored, version: madeBy, schema, time };
}

async function migrate(config: Config, from: string | undefined, onProgress: ReportProgress): Promise<Moved> {
  if (!config.databaseUrl) {
    throw new ConfigurationError([
      "BREEZEWAY_DATABASE_URL is not set: it names the empty PostgreSQL database that the store moves to",
    ]);
  }
  const { moveToPostgres } = await import("./store/migrate/move.ts");
  const folder = dataFolder(config.dataFolder);
  const keyFile = config.keyFile ?? folder.keyFile;
  const source = { folder, backup: from, keyFile, nowMs: Date.now };
  const moved = await moveToPostgres({ ...source, databaseUrl: config.databaseUrl, onProgress });
  return { from: from === undefined ? folder.path : resolve(from), keyFile, ...moved };
}
