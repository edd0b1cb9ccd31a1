import { mkdtempSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { profileServices } from "./measured-process.ts";
import { topFunctions } from "./profile.ts";
import { isMet, type Row } from "./row.ts";
import { alertGrowth } from "./rows/alert-growth.ts";
import { assistants } from "./rows/assistants.ts";
import { busyHome } from "./rows/busy-home.ts";
import { consoleLists } from "./rows/console-lists.ts";
import { deadUpstreams } from "./rows/dead-upstreams.ts";
import { deviceBatch } from "./rows/device-batch.ts";
import { deviceReads } from "./rows/device-reads.ts";
import { emergency } from "./rows/emergency.ts";
import { googleLinks } from "./rows/google-links.ts";
import { heldStreams } from "./rows/held-streams.ts";
import { homeAssistantLinks } from "./rows/home-assistant-links.ts";
import { ingest } from "./rows/ingest.ts";
import { loginFlood } from "./rows/login-flood.ts";
import { postgresChanges } from "./rows/postgres-changes.ts";
import { postgresCosts } from "./rows/postgres-costs.ts";
import { size } from "./rows/size.ts";
import { start } from "./rows/start.ts";
import { storedHomes } from "./rows/stored-homes.ts";
import { tokens } from "./rows/tokens.ts";
import { typeWork } from "./rows/type-work.ts";
import { type NamedResult, tableOf } from "./table.ts";

/**
 * `npm run bench` measures all rows but the longest ones, `npm run bench -- <name> …` the named ones, `--json` prints JSON. With `--profile`
 * the services write CPU profiles, and the functions that used most of the CPU are printed; the figures are higher
 * then. The exit code is 1 when a figure misses its target, and 2 for an unknown row.
 */
const rows: readonly Row[] = [
  deviceReads,
  deviceBatch,
  typeWork,
  tokens,
  loginFlood,
  emergency,
  assistants,
  alertGrowth,
  deadUpstreams,
  heldStreams,
  homeAssistantLinks,
  googleLinks,
  busyHome,
  ingest,
  postgresChanges,
  postgresCosts,
  storedHomes,
  size,
  consoleLists,
  start,
];

const argumentsOfCommand = process.argv.slice(2);
const isJson = argumentsOfCommand.includes("--json");
const isProfiled = argumentsOfCommand.includes("--profile");
const names = argumentsOfCommand.filter((argument) => !["--json", "--profile"].includes(argument));
const unknown = names.filter((name) => !rows.some((row) => row.name === name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown row: ${unknown.join(", ")}. Known rows: ${rows.map(({ name }) => name).join(", ")}.\n`);
  process.exit(2);
}
// Unlike the default action of a signal, process.exit runs the exit handlers, which remove temporary folders.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const profiles = isProfiled ? mkdtempSync(join(tmpdir(), "breezeway-profiles-")) : undefined;
if (profiles !== undefined) profileServices(profiles);
const results: NamedResult[] = [];
const loads = [loadavg()[0]!];
const isChosen = ({ name, isOnlyByName }: Row) => (names.length === 0 ? !isOnlyByName : names.includes(name));
for (const { name, measure } of rows.filter(isChosen)) {
  const progress = (sentence: string) => process.stderr.write(`${name}: ${sentence}\n`);
  results.push(...(await measure(progress)).map((result) => ({ row: name, ...result })));
  loads.push(loadavg()[0]!);
}

if (profiles !== undefined) process.stderr.write(`\n${topFunctions(profiles)}\nThe profiles are in ${profiles}.\n`);
const machine = { cores: availableParallelism(), loads, node: process.version };
if (isJson) {
  const shown = results.map((result) => ({ ...result, isMet: isMet(result) ?? null }));
  process.stdout.write(`${JSON.stringify({ machine, results: shown }, null, 2)}\n`);
} else {
  const load = loads.map((average) => average.toFixed(1)).join(", ");
  process.stdout.write(`\n${tableOf(results)}\n${machine.cores} cores, Node ${machine.node}, load ${load}\n`);
}
process.exitCode = results.some((result) => isMet(result) === false) ? 1 : 0;
