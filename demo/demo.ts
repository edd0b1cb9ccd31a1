import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { startSimulator } from "../simulator/simulator.ts";
import { type Config, ConfigurationError } from "../src/config/config.ts";
import { isOnLoopback } from "../src/config/loopback.ts";
import { startLogging } from "../src/runtime/process/log.ts";
import { anyAborted, untilSignalled } from "../src/runtime/process/signals.ts";
import { untilUncaught } from "../src/runtime/process/uncaught-errors.ts";
import { startService } from "../src/service/service.ts";
import { dataFolder } from "../src/store/disk/data-folder.ts";
import { banner, simulatorPort } from "./banner.ts";
import { demoConsole } from "./console/console.ts";
import { onFreePort } from "./free-port.ts";
import { checkSeed, moveIn } from "./house.ts";
import { keysOf } from "./keys.ts";

export interface DemoOptions {
  readonly version: string;
  /** What makes the house and its life the same each time. */
  readonly seed?: string;
  readonly hasEcosystems: boolean;
  readonly hasLogLevel: boolean;
}

/** Something that everybody sees happens at every other beat: within ten seconds, whenever somebody looks. */
const lifeEveryMs = 4_000;

/**
 * The whole path on one machine: the service, a simulated house, and a user who is linked to it, through the same doors
 * that a client uses. Everything is kept; a second start goes on where the first ended.
 */
export async function runDemo(
  config: Config,
  { version, seed, hasEcosystems, hasLogLevel }: DemoOptions,
): Promise<void> {
  refuseOthers(config);
  const say = (words: string) => process.stderr.write(words);
  if (hasEcosystems) {
    say("The demo uses its own simulator. BREEZEWAY_ECOSYSTEMS is ignored here; breezeway serve uses it.\n");
  }
  const told = untilSignalled();
  const folder = dataFolder(config.dataFolder);
  folder.make((sentence) => say(`${sentence}\n`));
  // Before the simulator looks at its file: two of them would write over each other's houses.
  const unlock = folder.lock("demo");
  const stops: (() => void | Promise<void>)[] = [unlock];
  try {
    const simulator = await onFreePort(simulatorPort, "The simulator", (port) =>
      startSimulator({ port, stateFile: join(folder.path, "simulator.json") }),
    );
    stops.push(() => simulator.stop());
    const ecosystems = [
      { name: "nest", protocol: "nest" as const, apiUrl: simulator.url, allowedHosts: [new URL(simulator.url).host] },
    ];
    const report = startLogging(hasLogLevel ? config.logLevel : "warn");
    const shown = demoConsole({ folder: folder.path, simulator, version });
    const fatal = untilUncaught(report);
    const service = await onFreePort(config.port, "The service", (port) =>
      // On loopback alone, where a newcomer tries webhooks with a receiver of their own.
      startService({ ...config, port, ecosystems, allowPrivateWebhooks: true }, report, undefined, {
        guests: shown.routes,
      }),
    );
    stops.push(() => service.stop());
    // For commands that make things happen in the house; no secret.
    writeFileSync(join(folder.path, "demo-simulator-url"), simulator.url);
    await checkSeed(service, seed);
    const keys = await keysOf(service, folder.path);
    stops.push(keys.stop);
    const house = await moveIn(service, simulator, keys, seed);
    shown.open(house, service.baseUrl);
    simulator.startLife(house.accountId, { everyMs: lifeEveryMs });

    say(banner({ version, house, service, simulator, files: keys, folder: config.dataFolder, claim: shown.claim() }));
    say(`breezeway listening on ${service.baseUrl}\n`);
    onEnter(told, () => say(`  Console    ${shown.claim()}   (opens once, 30 min)\n`));
    await anyAborted(told, fatal);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Its password stands in its banner: nobody but this machine may reach it, and no other machine's store hold it. */
function refuseOthers(config: Config): void {
  const problems: string[] = [];
  if (!isOnLoopback(config)) problems.push("The demo listens on loopback only. Use breezeway serve for anything else");
  if (config.databaseUrl !== undefined) {
    problems.push("The demo keeps its house in its own folder. Unset BREEZEWAY_DATABASE_URL, or use breezeway serve");
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** A link to the console works once. After it was used, the terminal shows a new one. */
function onEnter(told: AbortSignal, act: () => void): void {
  if (!process.stdin.isTTY) return;
  const lines = createInterface({ input: process.stdin });
  lines.on("line", act);
  told.addEventListener("abort", () => lines.close());
}
