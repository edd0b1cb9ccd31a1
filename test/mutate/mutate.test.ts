import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { type Argued, staleEntries } from "./argued.ts";
import { arguedSurvivors } from "./argued-survivors.ts";
import { chosenTests } from "./chosen-tests.ts";
import { type Mutant, mutantsOf } from "./mutants.ts";
import { runMutants } from "./mutation-run.ts";
import { reportOf } from "./report.ts";
import { reportedSurvivors } from "./reported-survivors.ts";
import type { Verdict } from "./verdicts.ts";

const root = new URL("../..", import.meta.url).pathname;
const fixture = "test/mutate/fixture";
const mutants = mutantsOf(root, [`${fixture}/counting.ts`]);
const folders = [{ source: fixture }];

describe("a mutation run", () => {
  let verdicts: readonly Verdict[] = [];

  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), "breezeway-mutate-"));
    try {
      const testFiles = [`${fixture}/counting.cases.ts`];
      verdicts = await runMutants({
        root,
        mutants,
        chosen: mutants,
        testFiles,
        folder,
        progress: () => undefined,
        budgetMs: 30_000,
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  const outcomeOf = (around: string, before: string, after: string) =>
    verdicts.find(({ mutant }) => mutant.function === around && mutant.before === before && mutant.after === after)
      ?.outcome;

  it("sees a mutant die that a test notices", () => {
    assert.equal(outcomeOf("isWithin", "count <= limit", "count > limit"), "killed");
  });

  it("sees a mutant survive that no test notices", () => {
    assert.equal(outcomeOf("isWithin", "count <= limit", "count < limit"), "survived");
  });

  it("counts an endless loop as noticed", () => {
    assert.equal(outcomeOf("sumTo", "i++", "i--"), "killed");
  });

  it("switches what is evaluated when a module is loaded", () => {
    assert.equal(outcomeOf("module", '["first", "second"]', "[]"), "killed");
    assert.equal(outcomeOf("module", '"second"', '""'), "killed");
  });

  it("leaves out branches for PostgreSQL, which its tests can't reach", () => {
    assert.equal(outcomeOf("placeholder", "count + 2", "count - 2"), "killed");
    assert.ok(!mutants.some(({ before }) => before === "count + 1"));
  });

  it("says of code that no test runs that it is untested", () => {
    assert.equal(outcomeOf("nobodyCalls", "!flag", "flag"), "untested");
  });

  it("is good when every survivor is argued, and names entries that argue for nothing", () => {
    const survivors = verdicts.filter(({ outcome }) => outcome !== "killed");
    const argued = survivors.map(({ mutant }): Argued => ({ ...argumentFor(mutant), reason: "a fixture" }));
    assert.equal(reportOf(verdicts, mutants, argued, folders).isGood, true);

    const [first] = argued;
    const reworded = { ...first!, before: "count <= other" };
    const { text, isGood } = reportOf(verdicts, mutants, [reworded, ...argued.slice(1)], folders);
    assert.equal(isGood, false);
    assert.match(text, /counting\.ts:5 {2}survived {2}\(<= in isWithin\)\n {2}- count <= limit\n {2}\+ count < limit/);
    assert.match(text, /stale entry .*count <= other/);
  });

  it("can be repeated with the survivors that its report names", () => {
    const survivors = verdicts.filter(({ outcome }) => outcome !== "killed").map(({ mutant }) => mutant);
    const { text } = reportOf(verdicts, mutants, [], folders);
    assert.ok(survivors.length > 0);
    assert.deepEqual(reportedSurvivors(text, mutants), survivors);
  });
});

describe("the tests against one mutant", () => {
  const mutant = { file: "src/oauth/clients.ts", function: "find", before: "client.suspendedMs !== null" } as Mutant;
  const test = (name: string, ms: number) => ({ file: "test/made.test.ts", name, ms, switches: 1 });
  const names = (budgetMs: number) =>
    chosenTests(mutant, [test("fast", 10), test("usual", 20), test("long", 60), test("a suspended one", 70)], budgetMs)
      .map(({ name }) => name)
      .join(", ");

  it("are the fastest ones, and those that speak of it", () => {
    assert.equal(names(120), "fast, usual, a suspended one");
    assert.equal(names(1_000), "fast, usual, long, a suspended one");
    assert.equal(names(81), "fast, a suspended one");
  });
});

describe("the list of argued survivors", () => {
  it("names mutants that there are, each with a reason", () => {
    const files = [...new Set(arguedSurvivors.map(({ file }) => file))];
    assert.deepEqual(staleEntries(arguedSurvivors, mutantsOf(root, files)), []);
    for (const { reason } of arguedSurvivors) assert.match(reason, /\w+ \w+/);
  });
});

function argumentFor({ file, function: around, operator, before, after }: Mutant): Omit<Argued, "reason"> {
  return { file, function: around, operator, before, after };
}
