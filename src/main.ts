import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { runCommandLine } from "./cli/program.ts";
import { programs } from "./entry-points.ts";
import { version } from "./runtime/process/version.ts";

const fromFile = existsSync(".env") ? parseEnv(readFileSync(".env", "utf8")) : {};

// The reader of the output may close it early (`| head`).
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

const code = await runCommandLine(process.argv.slice(2), programs, {
  environment: { ...fromFile, ...process.env },
  origin: (variable) => (process.env[variable] === undefined ? ".env" : "environment"),
  version,
  input: process.stdin,
  out: process.stdout,
  err: process.stderr,
});
// An uncaught error has already set the exit code: a clean stop after it is still a failure.
process.exitCode ||= code;
