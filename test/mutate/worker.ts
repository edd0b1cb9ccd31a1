import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { type CollectedTest, collect } from "./collected-tests.ts";
import type { Answer, Order, RecordedTest, TestKey } from "./orders.ts";
import { nameOfTest } from "./recent-kills.ts";
import { runTest } from "./test-run.ts";

/**
 * A process that runs tests against mutants. It loads the sources with all mutants in them, each behind a switch, and
 * the test files with a stand-in for `node:test`. Arguments: the file with the switched sources, and the mutant that is
 * on from the beginning, if any.
 */
const switched: Readonly<Record<string, string>> = JSON.parse(readFileSync(process.argv[2]!, "utf8"));
let mutant = Number(process.argv[3] ?? -1);
/** Made for one mutant only: nothing in its memory comes from another. */
const isFresh = mutant >= 0;
/** Which mutants the program came by. */
let reached = new Set<number>();
/** How many more switches a test may come by: an endless loop comes by one that is in the loop. */
let fuel = Number.POSITIVE_INFINITY;

Object.assign(globalThis, {
  mutantIsOn(id: number): boolean {
    if (--fuel < 0) throw new Error("this test runs far longer than without the mutant");
    reached.add(id);
    return id === mutant;
  },
});

/** The stand-in for `node:test`, and what may import the real one. */
const harness = ["collected-tests.ts", "test-run.ts"].map((name) => new URL(name, import.meta.url).href);
const root = new URL("../../", import.meta.url).href;
/** Sources without their types, for they are loaded many times. */
const stripped = new Map<string, string>();
/** Rises when all modules of the repository are to be loaded anew. */
let generation = 0;
let generations = 0;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "node:test" && !harness.includes(context.parentURL ?? "")) {
      return { url: harness[0]!, shortCircuit: true };
    }
    const found = next(specifier, context);
    if (generation === 0 || !isOurs(found.url) || harness.includes(found.url)) return found;
    return { ...found, url: `${found.url}?generation=${generation}` };
  },
  load(url, context, next) {
    if (!isOurs(url)) return next(url, context);
    const path = url.split("?")[0]!;
    const source = stripped.get(path) ?? stripTypeScriptTypes(switched[path] ?? readFileSync(new URL(path), "utf8"));
    stripped.set(path, source);
    return { format: "module", source, shortCircuit: true };
  },
});

function isOurs(url: string): boolean {
  return url.startsWith(root) && !url.startsWith(`${root}node_modules/`) && /\.ts($|\?)/.test(url);
}

const { default: fastCheck } = await import("fast-check");
// The same cases in each run, and no search for the smallest counter-example: that a test fails is enough.
fastCheck.configureGlobal({ seed: 1, endOnFailure: true });

const wornBytes = 500_000_000;
let files = new Map<string, readonly CollectedTest[]>();

process.on("message", async (order: Order) => {
  const given = await answer(order);
  // Modules are never unloaded: the next order gets another process.
  const isWorn = process.memoryUsage().heapUsed > wornBytes;
  process.send!({ ...given, isWorn } satisfies Answer);
});
// An error that belongs to no test, as of a server that a mutant left behind, must not end this process.
process.on("unhandledRejection", () => undefined);
process.on("uncaughtException", () => undefined);
process.send!({ kind: "ready" } satisfies Answer);

async function answer(order: Order): Promise<Answer> {
  switch (order.kind) {
    case "load":
      return load(order.file);
    case "record":
      return record(order.test);
    case "try":
      return order.isAnew ? attemptAnew(order.mutant, order.tests) : attempt(order.mutant, order.tests);
  }
}

async function load(file: string): Promise<Answer> {
  reached = new Set();
  try {
    const tests = await testsOf(file);
    return { kind: "loaded", tests: tests.map(({ name }) => name), reached: [...reached] };
  } catch (error) {
    return { kind: "failed", reason: String(error instanceof Error ? error.stack : error) };
  }
}

async function record(key: TestKey): Promise<Answer> {
  reached = new Set();
  const allowed = 1e9;
  fuel = allowed;
  const startedMs = performance.now();
  const error = await runTest(await find(key), 2_400);
  const recorded = { ms: performance.now() - startedMs, switches: allowed - fuel, reached: [...reached] };
  fuel = Number.POSITIVE_INFINITY;
  if (error !== undefined) return { kind: "failed", reason: String(error instanceof Error ? error.stack : error) };
  return { kind: "recorded", ...recorded };
}

/** Loads the product and the tests again, with the mutant on from the first line. */
async function attemptAnew(id: number, tests: readonly RecordedTest[]): Promise<Answer> {
  const before = { files, generation };
  files = new Map();
  generation = ++generations;
  try {
    return await attempt(id, tests);
  } finally {
    files = before.files;
    generation = before.generation;
  }
}

/** Runs the tests until one fails with the mutant. */
async function attempt(id: number, tests: readonly RecordedTest[]): Promise<Answer> {
  reached = new Set();
  for (const test of tests) {
    const error = await withMutant(id, async () => {
      fuel = test.switches * 20 + 200_000;
      return runTest(await find(test), Math.ceil(test.ms / 5) + 20);
    });
    fuel = Number.POSITIVE_INFINITY;
    if (error === undefined) continue;
    // With a process or modules of its own, the mutant can't have met the traces of another in a module's memory.
    const isSound = isFresh || generation > 0 || (await runTest(await find(test), 1_200)) === undefined;
    return { kind: "killed", by: nameOfTest(test), isSound };
  }
  return { kind: "survived", isReached: reached.has(id) };
}

async function withMutant<T>(id: number, work: () => Promise<T>): Promise<T | Error> {
  const before = mutant;
  mutant = id;
  try {
    return await work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    mutant = before;
  }
}

async function testsOf(file: string): Promise<readonly CollectedTest[]> {
  const present = files.get(file);
  if (present) return present;
  const tests = await collect(new URL(file, new URL("../../", import.meta.url)).href);
  files.set(file, tests);
  return tests;
}

async function find({ file, name }: TestKey): Promise<CollectedTest> {
  const test = (await testsOf(file)).find((candidate) => candidate.name === name);
  if (!test) throw new Error(`${file} has no test "${name}"`);
  return test;
}
