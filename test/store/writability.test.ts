import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { type ProbeSize, Writability } from "../../src/store/disk/writability.ts";
import type { Sql } from "../../src/store/sql.ts";
import { writeProbe } from "../../src/store/tables/write-probe.ts";

describe("whether a store can write", () => {
  it("is probed with a small row, or on SQLite with as much as a large commit, which is freed again", async () => {
    const written = async (size: ProbeSize) => {
      const lengths: number[] = [];
      const run = async (_: string, [, value]: readonly unknown[]) => lengths.push(String(value).length);
      await writeProbe({ dialect: "sqlite", run } as unknown as Sql, size);
      return lengths;
    };
    assert.deepEqual(await written("small"), [0]);
    assert.deepEqual(await written("ordinary"), [1_048_576, 0]);
  });

  it("is checked by one probe for concurrent callers", async () => {
    const { writability, probes, answer } = made();
    const checks = Array.from({ length: 50 }, () => writability.check());
    assert.deepEqual(probes, ["small"]);
    answer();
    await Promise.all(checks);
    await writability.check();
    assert.deepEqual(probes, ["small"]);
  });

  it("is checked again after five seconds", async () => {
    const { writability, probes, answer, pass } = made();
    for (const [passedMs, expected] of [
      [0, 1],
      [4_999, 1],
      [1, 2],
    ] as const) {
      pass(passedMs);
      const checked = writability.check();
      if (probes.length === expected) answer();
      await checked;
      assert.equal(probes.length, expected);
    }
  });

  it("is denied after a failed write until a probe of ordinary size succeeds, whatever small writes do", async () => {
    const { writability, probes, answer, pass } = made();
    const failed = writability.observe(() => Promise.reject(full));
    await assert.rejects(failed, full);
    await writability.observe(async () => "a small write that fitted");
    const refused = assert.rejects(writability.check(), full);
    answer(full);
    await refused;
    assert.deepEqual(probes, ["ordinary"]);

    await assert.rejects(writability.check(), full);
    assert.equal(probes.length, 1, "a store that can't write was probed again at once");
    pass(1_000);
    const checked = writability.check();
    answer();
    await checked;
    assert.deepEqual(probes, ["ordinary", "ordinary"]);
  });

  it("is denied when a write failed during the probe", async () => {
    const { writability, answer } = made();
    const checked = writability.check();
    await assert.rejects(
      writability.observe(() => Promise.reject(full)),
      full,
    );
    answer();
    await assert.rejects(checked, full);
  });

  it("is not denied because of a caller's own error", async () => {
    const { writability, probes, answer } = made();
    await assert.rejects(writability.observe(() => Promise.reject(new Error("no such device"))));
    const checked = writability.check();
    answer();
    await checked;
    assert.deepEqual(probes, ["small"]);
  });

  it("is denied when a probe is not answered in time", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { writability, probes } = made();
    const checks = [writability.check(), writability.check()];
    t.mock.timers.tick(1_500);
    for (const check of checks) await assert.rejects(check, /a test write took longer/);
    assert.equal(probes.length, 1);
  });
});

const full = new StoreUnavailable("The disk is full.");

/** A Writability whose probes the test answers. */
function made() {
  const probes: ProbeSize[] = [];
  let answers: (failure?: Error) => void = () => undefined;
  let nowMs = 0;
  const probe = (size: ProbeSize) => {
    probes.push(size);
    return new Promise<void>((resolve, reject) => {
      answers = (failure) => (failure ? reject(failure) : resolve());
    });
  };
  return {
    writability: new Writability(probe, () => nowMs),
    probes,
    answer: (failure?: Error) => answers(failure),
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}
