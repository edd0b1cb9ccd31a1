import { availableParallelism, loadavg } from "node:os";
import { alertGrowth } from "./alert-growth.ts";
import { deadUpstreams } from "./dead-upstreams.ts";
import { deviceReads } from "./device-reads.ts";
import { emergency } from "./emergency.ts";
import { heldStreams } from "./held-streams.ts";
import { ingest } from "./ingest.ts";
import { loginFlood } from "./login-flood.ts";
import { postgresCosts } from "./postgres-costs.ts";
import { isMet, type Row } from "./row.ts";
import { type NamedResult, tableOf } from "./table.ts";
import { tokens } from "./tokens.ts";

/**
 * `npm run bench` measures all rows, `npm run bench -- <name>` those of that name, `--json` prints for machines. It ends
 * with 1 when a bar is missed, and with 2 when there is no such row.
 */
const rows: readonly Row[] = [
  deviceReads,
  tokens,
  loginFlood,
  emergency,
  alertGrowth,
  deadUpstreams,
  heldStreams,
  ingest,
  postgresCosts,
];

const given = process.argv.slice(2);
const isJson = given.includes("--json");
const names = given.filter((argument) => argument !== "--json");
const unknown = names.filter((name) => !rows.some((row) => row.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `no row is called ${unknown.join(" or ")}; there are ${rows.map(({ name }) => name).join(", ")}\n`,
  );
  process.exit(2);
}
// An exit, unlike a signal's own end, lets temporary folders be removed.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const results: NamedResult[] = [];
const loads = [loadavg()[0]!];
for (const { name, measure } of rows.filter((row) => names.length === 0 || names.includes(row.name))) {
  const tell = (sentence: string) => process.stderr.write(`${name}: ${sentence}\n`);
  results.push(...(await measure(tell)).map((result) => ({ row: name, ...result })));
  loads.push(loadavg()[0]!);
}

const machine = { cores: availableParallelism(), loads, node: process.version };
if (isJson) {
  const shown = results.map((result) => ({ ...result, isMet: isMet(result) ?? null }));
  process.stdout.write(`${JSON.stringify({ machine, results: shown }, null, 2)}\n`);
} else {
  const load = loads.map((average) => average.toFixed(1)).join(", ");
  process.stdout.write(`\n${tableOf(results)}\n${machine.cores} cores, Node ${machine.node}, load ${load}\n`);
}
process.exitCode = results.some((result) => isMet(result) === false) ? 1 : 0;
