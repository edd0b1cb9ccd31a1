import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { demoSimulatorFile } from "../src/cli/demo-simulator.ts";
import { type Config, ConfigurationError } from "../src/config/config.ts";
import { isOnLoopback } from "../src/config/loopback.ts";
import type { ShownSetting } from "../src/config/shown-settings.ts";
import { startLogging } from "../src/runtime/process/log.ts";
import { anyAborted, untilSignalled } from "../src/runtime/process/signals.ts";
import { untilUncaught } from "../src/runtime/process/uncaught-errors.ts";
import { startService } from "../src/service/service.ts";
import { dataFolder } from "../src/store/disk/data-folder.ts";
import { accessTo } from "./access.ts";
import { addAssistants, linkAssistants } from "./assistants/assistants.ts";
import { startMakers } from "./assistants/makers.ts";
import { banner, consoleLines } from "./banner.ts";
import { demoConsole } from "./console/console.ts";
import { defaultFolder, ecosystemChoice, keepChoice } from "./ecosystems/choice.ts";
import { onFreePort } from "./free-port.ts";
import { checkSeed, prepareHouse, structureName } from "./house.ts";
import { startLampCloud } from "./lamp-cloud.ts";

export interface DemoOptions {
  readonly version: string;
  /** Seed of the house and of its simulated life. */
  readonly seed?: string;
  /** The protocol of the simulated ecosystem; that of the house in the folder when left out. */
  readonly ecosystem?: string;
  readonly hasEcosystems: boolean;
  readonly hasDataFolder: boolean;
  readonly hasLogLevel: boolean;
  /** The settings of the command line and the environment; the console shows them with what the demo changes. */
  readonly settings: readonly ShownSetting[];
}

/**
 * Runs the service, a simulated house and a user who is linked to it on one machine, through the interfaces that
 * clients use. All data stays in the data folder for the next start.
 */
export async function runDemo(
  configured: Config,
  { version, seed, ecosystem: chosen, hasEcosystems, hasDataFolder, hasLogLevel, settings }: DemoOptions,
): Promise<void> {
  requireLocal(configured);
  const config = hasDataFolder
    ? configured
    : { ...configured, dataFolder: defaultFolder(configured.dataFolder, chosen) };
  const say = (text: string) => process.stderr.write(text);
  if (hasEcosystems) {
    say("The demo uses its own simulator. BREEZEWAY_ECOSYSTEMS is ignored here; breezeway serve uses it.\n");
  }
  const stopSignal = untilSignalled();
  const folder = dataFolder(config.dataFolder);
  // Checked before the folder is made: a mistyped name leaves nothing behind.
  const choice = ecosystemChoice(folder.path, chosen);
  folder.make((sentence) => say(`${sentence}\n`));
  // Locked before the simulator reads its state file: two simulators would overwrite each other's houses.
  const unlock = folder.lock("demo");
  const stops: (() => void | Promise<void>)[] = [unlock];
  try {
    keepChoice(folder.path, choice);
    const ecosystem = await onFreePort(choice.port, "The simulator", (port) =>
      choice.start({ folder: folder.path, port, homeName: structureName }),
    );
    stops.push(() => ecosystem.stop());
    const makers = await startMakers();
    stops.push(() => makers.stop());
    const ecosystems = [ecosystem.configuration];
    const report = startLogging(hasLogLevel ? config.logLevel : "warn");
    const demoPages = demoConsole({ folder: folder.path, ecosystem });
    const fatal = untilUncaught(report);
    const service = await onFreePort(config.port, "The service", (port) =>
      // Private webhook addresses are safe here: the demo listens on loopback, where users try their own receivers.
      startService({ ...config, port, ecosystems, allowPrivateWebhooks: true }, report, undefined, {
        addedRoutes: demoPages.addedRoutes,
        console: demoPages.additions,
        settings: demoSettings(settings, {
          BREEZEWAY_DATA: config.dataFolder === configured.dataFolder ? undefined : config.dataFolder,
          BREEZEWAY_PORT: port === config.port ? undefined : String(port),
          BREEZEWAY_ECOSYSTEMS: `${ecosystem.configuration.name}, simulated at ${ecosystem.url}`,
          BREEZEWAY_LOG_LEVEL: hasLogLevel ? undefined : "warn",
          BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true",
        }),
      }),
    );
    stops.push(() => service.stop());
    // `breezeway sim` reads the address here. It is no secret.
    writeFileSync(join(folder.path, demoSimulatorFile), ecosystem.url, { mode: 0o600 });
    const houseSeed = await checkSeed(service, seed);
    const access = await accessTo(service, folder.path);
    stops.push(access.stop);
    const house = await prepareHouse(service, ecosystem, access, houseSeed);
    const lampCloud = await startLampCloud(access.byClient, house.lampId);
    stops.push(() => lampCloud.stop());
    const assistants = await addAssistants(service, makers, access);
    demoPages.open({ service, house, assistants });
    ecosystem.startLife(houseSeed);
    // The banner does not wait for the sign-ins.
    void linkAssistants(assistants);

    const consoleLink = await demoPages.newLink();
    say(banner({ version, house, service, ecosystem, access, folder: config.dataFolder, consoleLink }));
    say(`breezeway listening on ${service.baseUrl}\n`);
    onEnter(stopSignal, async () => say(`${consoleLines(await demoPages.newLink())}\n`));
    await anyAborted(stopSignal, fatal);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** The settings with those that the demo chooses itself. */
function demoSettings(
  settings: readonly ShownSetting[],
  chosen: Readonly<Record<string, string | undefined>>,
): readonly ShownSetting[] {
  return settings.map((setting) => {
    const value = chosen[setting.variable];
    return value === undefined ? setting : { variable: setting.variable, value, from: "the demo" };
  });
}

/** The demo's password is public: only this machine may reach the service, and no shared database may hold the user. */
function requireLocal(config: Config): void {
  const problems: string[] = [];
  if (!isOnLoopback(config)) problems.push("The demo listens on loopback only. Use breezeway serve for anything else");
  if (config.databaseUrl !== undefined) {
    problems.push("The demo keeps its house in its own folder. Unset BREEZEWAY_DATABASE_URL, or use breezeway serve");
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function onEnter(stopSignal: AbortSignal, handle: () => void): void {
  if (!process.stdin.isTTY) return;
  const lines = createInterface({ input: process.stdin });
  lines.on("line", handle);
  stopSignal.addEventListener("abort", () => lines.close());
}
