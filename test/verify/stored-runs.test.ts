import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { Conflict } from "../../src/model/errors.ts";
import { VerificationRuns } from "../../src/service/verification-runs.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import type { Report } from "../../verify/report/report.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { madeReport } from "./made-report.ts";

const begun = { url: "http://127.0.0.1:9", by: "ada" };
const minuteMs = 60_000;

async function made(t: TestContext) {
  const folder = await newDataFolder("breezeway-verifications-");
  const clock = { nowMs: 1_000_000 };
  const store = await openSqlite({ folder, nowMs: () => clock.nowMs });
  const warnings: string[] = [];
  const newNode = () => new VerificationRuns({ store, log: { warn: (_, words) => void warnings.push(words) } });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { clock, store, newNode, warnings };
}

describe("stored verifications", () => {
  it("are shown as running until their report is stored, which every node reads", async (t) => {
    const { newNode } = await made(t);
    const [here, elsewhere] = [newNode(), newNode()];
    const report = Promise.withResolvers<Report>();
    const { verificationId } = await here.start(begun, () => report.promise);
    assert.deepEqual(await elsewhere.list(), [{ ...begun, verificationId, startedMs: 1_000_000 }]);
    assert.deepEqual((await elsewhere.find(verificationId))?.rows, []);
    await assert.rejects(
      elsewhere.start(begun, () => assert.fail("runs twice")),
      Conflict,
    );
    const whole = madeReport();
    report.resolve(whole);
    await here.stop();
    const found = await elsewhere.find(verificationId);
    assert.deepEqual(found?.rows, whole.rows);
    const { grade, verdict, counts, seconds, version } = whole;
    assert.deepEqual(found?.result, { grade, verdict, counts, seconds, version });
    assert.equal(await elsewhere.find("another"), undefined);
  });

  it("say why there is no report: it failed, the service was stopped, or its node was killed", async (t) => {
    const { clock, newNode, warnings } = await made(t);
    const problems = async () => (await newNode().list()).map(({ problem }) => problem);
    const failing = newNode();
    await failing.start(begun, () => Promise.reject(new Error("Nothing answers.")));
    await failing.stop();
    assert.deepEqual(await problems(), ["Nothing answers."]);

    const stopped = newNode();
    await stopped.start(begun, (signal) => new Promise((_, fail) => (signal.onabort = () => fail(signal.reason))));
    await stopped.stop();
    assert.deepEqual(await problems(), ["The service was stopped meanwhile.", "Nothing answers."]);

    const killed = newNode();
    await killed.start(begun, () => new Promise(() => undefined));
    clock.nowMs += 5 * minuteMs - 1;
    assert.equal((await problems())[0], undefined);
    await assert.rejects(
      newNode().start(begun, () => assert.fail("runs twice")),
      Conflict,
    );
    clock.nowMs += 1;
    assert.equal((await problems())[0], "Its node was stopped before it had ended.");
    await newNode().start(begun, async () => madeReport());
    assert.deepEqual(warnings, []);
  });

  it("are the last ten, each with its own rows, and long texts are cut", async (t) => {
    const { newNode } = await made(t);
    const runs = newNode();
    const first = await runs.keep(begun, madeReport({}, "run 0"));
    for (let i = 1; i <= 25; i += 1) await runs.keep({ ...begun, by: `ada ${i}` }, madeReport({}, `run ${i}`));
    const list = await runs.list();
    assert.deepEqual(
      list.map(({ by }) => by),
      Array.from({ length: 10 }, (_, i) => `ada ${25 - i}`),
    );
    assert.equal(await runs.find(first.verificationId), undefined);
    for (const [place, { verificationId }] of list.entries()) {
      assert.equal((await runs.find(verificationId))?.rows[0]?.seen, `run ${25 - place}`);
    }
    const long = await runs.keep(begun, madeReport({}, `${"x".repeat(998)}\u{1f600}y`));
    const [row] = (await runs.find(long.verificationId))!.rows;
    assert.equal(row!.seen.length, 1_000);
    assert.ok(row!.seen.endsWith("…"));
  });

  it("lose no report that two nodes store at the same time", async (t) => {
    const { newNode } = await made(t);
    await Promise.all(Array.from({ length: 8 }, (_, i) => newNode().keep(begun, madeReport({}, `run ${i}`))));
    assert.equal((await newNode().list()).length, 8);
  });
});
