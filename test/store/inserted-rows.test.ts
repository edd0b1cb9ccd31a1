import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { insertRows } from "../../src/store/inserted-rows.ts";
import type { Parameter } from "../../src/store/sql.ts";

describe("rows that are inserted together", () => {
  for (const [count, statements] of [
    [0, []],
    [1, [2]],
    [19, Array(19).fill(2)],
    [20, [40]],
    [41, [40, 40, 2]],
  ] as const) {
    it(`keep their order and reach the store once: ${count}`, async () => {
      const sent: (readonly Parameter[])[] = [];
      const texts = new Set<string>();
      const run = async (text: string, parameters: readonly Parameter[] = []) => {
        texts.add(text);
        assert.equal(text.match(/\$\d+/g)?.length, parameters.length);
        return sent.push(parameters);
      };
      const runEach = async (text: string, sets: readonly (readonly Parameter[])[]) => {
        for (const parameters of sets) await run(text, parameters);
      };
      const rows = Array.from({ length: count }, (_, n) => [n, `row ${n}`]);
      await insertRows({ run, runEach }, "INSERT INTO log (id, body)", rows);
      assert.deepEqual(
        sent.map(({ length }) => length),
        statements,
      );
      assert.deepEqual(sent.flat(), rows.flat());
      assert.ok(texts.size <= 2, "the number of texts, which are kept as statements, does not depend on the rows");
    });
  }
});
