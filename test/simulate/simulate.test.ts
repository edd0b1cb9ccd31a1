import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventKinds, faultKinds } from "./faults.ts";
import { runPlant } from "./planting.ts";
import { plants } from "./plants.ts";
import { simulate } from "./run.ts";
import { runSeeds } from "./runs.ts";

describe("the core in the deterministic simulation", () => {
  it("keeps its promises through fifty seeds of faults, and converges after them", async () => {
    const counts = new Map<string, number>();
    const broken = await runSeeds({ seed: 1, runs: 50, nodes: 2 }, ({ faults }) => {
      for (const [kind, count] of Object.entries(faults)) counts.set(kind, (counts.get(kind) ?? 0) + count);
    });
    assert.equal(broken, undefined, `seed ${broken?.seed}: ${broken?.violation}`);
    // A simulation in which nothing goes wrong proves nothing; nor one in which nothing is done about it.
    for (const kind of [...faultKinds, ...eventKinds]) assert.ok((counts.get(kind) ?? 0) > 0, `not once: ${kind}`);
  });

  it("keeps them with three nodes too", async () => {
    const broken = await runSeeds({ seed: 1_001, runs: 10, nodes: 3 }, () => undefined);
    assert.equal(broken, undefined, `seed ${broken?.seed}: ${broken?.violation}`);
  });

  it("does the same for the same seed, to the byte", async () => {
    for (const seed of [1, 2, 3]) {
      const [once, again] = [await simulate(seed), await simulate(seed)];
      assert.equal(once.digest, again.digest);
      assert.notEqual(once.digest, (await simulate(seed + 100)).digest);
    }
  });

  for (const name of [
    "memory-diff",
    "no-fence",
    "time-per-attribute",
    "no-second-look",
    "unlink-keeps-attributes",
    "drop-forgotten",
    "blindness-forgotten",
    "sent-before-marked",
    "sent-again",
    "disarmed-in-memory",
    "settled-before-sent",
  ]) {
    it(`finds the planted mistake ${name}`, async () => {
      const plant = plants.find((candidate) => candidate.name === name)!;
      const { code, said } = await runPlant(plant, ["--runs", "1000"], "pipe");
      assert.match(said, /seed \d+ broke a promise: /);
      assert.equal(code, 1);
    });
  }
});
