import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { useTemporaryFolder } from "../set-up/temporary-folder.ts";
import { isArguedBy } from "./argued.ts";
import { arguedSurvivors } from "./argued-survivors.ts";
import { type Mutant, mutantsOf } from "./mutants.ts";
import { runMutants } from "./mutation-run.ts";
import { reportOf } from "./report.ts";
import { reportedSurvivors } from "./reported-survivors.ts";
import { type MutatedFolder, mutatedFolders } from "./scope.ts";
import type { Verdict } from "./verdicts.ts";

const usage = `npm run mutate -- [--seed N] [--sample N] [--again REPORT] [PATH...]
  PATH      a folder or file of the product, as src/virtual-device/index-map.ts: all its mutants
  --sample  tries only so many mutants of each PATH; without PATH, so many of each folder of which scope.ts names a number
  --seed    chooses the sample; a run without it prints its own
  --again   tries only the survivors that the printed report of an earlier run names, with more tests for each`;

const { values, positionals } = parseArgs({
  options: {
    seed: { type: "string" },
    sample: { type: "string" },
    again: { type: "string" },
    help: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const root = new URL("../..", import.meta.url).pathname;

if (values.help) console.log(usage);
else process.exitCode = await main();

async function main(): Promise<number> {
  const folders = mutatedFolders.filter(isWanted);
  const mutants = mutantsOf(root, positionals.length > 0 ? positionals : folders.map(({ source }) => source));
  if (folders.length === 0 || mutants.length === 0) {
    console.error(
      `There is nothing to mutate in ${positionals.join(" ")}. Known: ${mutatedFolders.map(({ source }) => source).join(", ")}.`,
    );
    return 2;
  }
  const chosen = chosenOf(mutants);
  useTemporaryFolder();
  process.env.NODE_COMPILE_CACHE ??= join(process.env.TMPDIR ?? "", "compiled");
  console.error(`${chosen.length} of ${mutants.length} mutants`);
  const near = filesOf(folders.flatMap((folder) => folder.near));
  const far = filesOf(folders.flatMap((folder) => folder.far)).filter((file) => !near.includes(file));
  const budgetMs = values.again === undefined ? 30_000 : 300_000;
  const run = { root, mutants, folder: process.env.TMPDIR ?? "", progress: sayWhen, budgetMs };
  const first = await runMutants({ ...run, chosen, testFiles: near });
  const isArgued = (mutant: Mutant) => arguedSurvivors.some((entry) => isArguedBy(mutant, entry));
  const alive = first.filter(({ outcome }) => outcome !== "killed");
  const left = alive.map(({ mutant }) => mutant).filter((mutant) => !isArgued(mutant));
  sayWhen(
    `the nearest tests noticed ${first.length - alive.length} of ${first.length} mutants; ${left.length} meet others`,
  );
  const second = left.length === 0 ? [] : await runMutants({ ...run, chosen: left, testFiles: far });
  const verdicts = first.map((verdict) => second.find(isBetterThan(verdict)) ?? verdict);
  const { text, isGood } = reportOf(verdicts, mutants, arguedSurvivors, folders);
  console.log(text);
  return isGood ? 0 : 1;
}

function chosenOf(mutants: readonly Mutant[]): readonly Mutant[] {
  if (values.again !== undefined) return reportedSurvivors(readFileSync(values.again, "utf8"), mutants);
  return positionals.length > 0 && values.sample === undefined ? mutants : sampled(mutants);
}

/** A mutant that no far test comes by has still survived the near ones. */
function isBetterThan({ mutant }: Verdict): (later: Verdict) => boolean {
  return (later) => later.mutant === mutant && later.outcome !== "untested";
}

function filesOf(patterns: readonly string[]): string[] {
  return [...new Set(globSync([...patterns], { cwd: root }))].sort();
}

function sayWhen(sentence: string): void {
  console.error(`${(performance.now() / 1_000).toFixed(0)} s: ${sentence}`);
}

function isWanted({ source }: MutatedFolder): boolean {
  return positionals.length === 0 || positionals.some((path) => `${path}/`.startsWith(`${source}/`));
}

/** A sample of each path; without paths, a sample of each folder or all of its mutants, as `scope.ts` says. */
function sampled(mutants: readonly Mutant[]): readonly Mutant[] {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
  console.error(`a sample with seed ${seed}; --seed ${seed} chooses the same mutants again`);
  const random = numbersFrom(seed);
  const some = (of: readonly Mutant[], size: number) => {
    const order = of.map((mutant) => ({ mutant, at: random() })).sort((a, b) => a.at - b.at);
    return order.slice(0, size).map(({ mutant }) => mutant);
  };
  const wanted = positionals.map((source) => ({ source, tried: Number(values.sample) }));
  return inOrder(
    (wanted.length > 0 ? wanted : mutatedFolders).flatMap(({ source, tried }) => {
      const ofPath = mutants.filter(({ file }) => file === source || file.startsWith(`${source}/`));
      return tried === "all" ? ofPath : some(ofPath, Number(values.sample ?? tried));
    }),
  );
}

function inOrder(mutants: readonly Mutant[]): readonly Mutant[] {
  return mutants.toSorted((a, b) => a.id - b.id);
}
