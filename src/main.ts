import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { exitCodes } from "./cli/exit-codes.ts";
import { runCommandLine } from "./cli/program.ts";
import { programs } from "./entry-points.ts";
import { build } from "./service/build.ts";

// The reader of the output may close it early (`| head`).
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

// A reader that goes away, or a full disk below a log file, loses lines. The service goes on without them.
process.stderr.on("error", () => undefined);

/** In the folder where the command runs; without one there, beside the program: the settings of an installed service. */
const settingsFile = [".env", fileURLToPath(new URL("../.env", import.meta.url))].find(isFile);
const fromFile = settingsFile === undefined ? {} : settingsIn(settingsFile);
if (fromFile) {
  const code = await runCommandLine(process.argv.slice(2), programs, {
    environment: { ...fromFile, ...process.env },
    origin: (variable) => (process.env[variable] === undefined ? (settingsFile ?? ".env") : "environment"),
    build,
    input: process.stdin,
    out: process.stdout,
    err: process.stderr,
  });
  // An uncaught error has already set the exit code: a clean stop after it is still a failure.
  process.exitCode ||= code;
} else {
  process.exitCode = exitCodes.configuration;
}

/** False for a folder: it is the virtual environment of another program. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Undefined when the file can't be read: without its settings, another store could be used. */
function settingsIn(file: string): NodeJS.Dict<string> | undefined {
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch (error) {
    process.stderr.write(`breezeway: the settings in ${resolve(file)} can't be read (${(error as Error).message}).\n`);
    return undefined;
  }
}
