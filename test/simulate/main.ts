import { parseArgs } from "node:util";
import { cheapestSeeds } from "./cheapest-seeds.ts";
import { runPlanted } from "./plants/planted-run.ts";
import { type RunResult, simulate } from "./run.ts";
import { runSeeds } from "./runs.ts";

const usage = `npm run simulate -- [--seed N] [--runs M] [--nodes K] [--trace] [--plant NAME] [--cheapest]
  --seed      the first seed (1)
  --runs      how many seeds (1000)
  --nodes     nodes that share the store (2)
  --trace     print all that happens in one seed
  --plant     run with a mistake planted into the core; "all" tries each of them
  --cheapest  print few short seeds of these runs that meet every kind of fault and event: the quick seeds of npm test`;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "1000" },
    nodes: { type: "string", default: "2" },
    trace: { type: "boolean", default: false },
    cheapest: { type: "boolean", default: false },
    plant: { type: "string" },
    // Set by --plant for the process that runs with the mistake.
    planted: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
const nodes = Number(values.nodes);
const runs = Number(values.runs);

if (values.help) console.log(usage);
else if (values.plant !== undefined) process.exitCode = await runPlanted(values.plant, process.argv.slice(2));
else if (values.trace) await traceOne();
else await runAll();

async function traceOne(): Promise<void> {
  const result = await simulate(seed, nodes);
  process.stdout.write(`${result.trace.join("\n")}\n`);
  console.error(`seed ${seed}: ${result.violation ?? "no violation"} (${result.steps} steps, digest ${result.digest})`);
  if (result.violation !== undefined) process.exitCode = 1;
}

async function runAll(): Promise<void> {
  const startedMs = performance.now();
  let steps = 0;
  let done = 0;
  const faults = new Map<string, number>();
  const results: RunResult[] = [];
  const violation = await runSeeds({ seed, runs, nodes }, (result) => {
    done += 1;
    steps += result.steps;
    if (values.cheapest) results.push(result);
    for (const [kind, count] of Object.entries(result.faults)) faults.set(kind, (faults.get(kind) ?? 0) + count);
    if (done % 100 === 0) console.error(`${done} of ${runs} runs`);
  });
  if (violation) printViolation(violation);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  const kinds = [...faults].sort().map(([kind, count]) => `${kind} ${count}`);
  console.log(`${done} runs, ${steps} steps, ${seconds} s; faults and events: ${kinds.join(", ")}`);
  if (values.cheapest) console.log(`cheapest seeds: ${cheapestSeeds(results).join(", ")}`);
}

function printViolation(result: RunResult): void {
  const plant = values.planted === undefined ? "" : ` --plant ${values.planted}`;
  console.error(
    [
      "",
      `seed ${result.seed} broke a guarantee: ${result.violation}`,
      "",
      ...result.trace.slice(-30),
      "",
      `replay: npm run simulate -- --seed ${result.seed} --nodes ${nodes} --trace${plant}`,
    ].join("\n"),
  );
  process.exitCode = 1;
}
