import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { callControl, NobodyListens } from "./cli/control-socket.ts";
import { runCommandLine } from "./cli/program.ts";
import type { Config } from "./config.ts";
import { untilTold } from "./signals.ts";
import { dataFolder } from "./store/data-folder.ts";
import { version } from "./version.ts";

// Help and mistakes are answered at once: what a command needs is loaded when it runs.
const loadService = () => Promise.all([import("./service.ts"), import("./logging.ts")]);

const fromFile = existsSync(".env") ? parseEnv(readFileSync(".env", "utf8")) : {};

process.exitCode = await runCommandLine(
  process.argv.slice(2),
  {
    serve,
    demo: async (config, options) => (await import("./demo/demo.ts")).runDemo(config, { version, ...options }),
    simulator: async (address) => (await import("../simulator/main.ts")).runSimulator(address, untilTold()),
    administer,
  },
  { environment: { ...fromFile, ...process.env }, version },
);

async function serve(config: Config): Promise<void> {
  const told = untilTold();
  const [{ startService }, { startLogging }] = await loadService();
  const service = await startService(config, startLogging(config.logLevel));
  process.stderr.write(`breezeway listening on ${service.baseUrl}\n`);
  if (!told.aborted) await new Promise((resolve) => told.addEventListener("abort", resolve));
  await service.stop();
}

/** In the running service if there is one, so that its caches hear of it; otherwise on the store itself. */
async function administer(config: Config, command: string, input: object): Promise<object> {
  if (!config.databaseUrl) {
    try {
      return await callControl(dataFolder(config.dataFolder).controlSocket, command, input);
    } catch (error) {
      if (!(error instanceof NobodyListens)) throw error;
    }
  }
  const [{ openParts }, { startLogging }] = await loadService();
  const parts = await openParts(config, startLogging("warn"));
  try {
    return await parts.administration.run(command, input);
  } finally {
    await parts.close();
  }
}
