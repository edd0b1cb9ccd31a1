import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { startLogging } from "../../src/logging.ts";

const logging = new URL("../../src/logging.ts", import.meta.url).href;

describe("the log", () => {
  it("blots out what is named like a secret, beside other fields and one level below", () => {
    const lines: string[] = [];
    const report = startLogging("info", { write: (line) => void lines.push(line) });
    const fields = { userId: 7, accessToken: "s3cret", request: { route: "/v3", secToken: "s3cret" } };
    report.info(fields, "a sentence");
    const { time, ...line } = JSON.parse(lines[0]!);
    assert.ok(Date.parse(time) > 0);
    assert.deepEqual(line, {
      level: "info",
      userId: 7,
      accessToken: "(secret)",
      request: { route: "/v3", secToken: "(secret)" },
      message: "a sentence",
    });
    assert.equal(fields.accessToken, "s3cret", "whoever handed it in keeps it");
  });

  it("tells of an error what it says and what caused it, and nothing that it carries", () => {
    const lines: string[] = [];
    const report = startLogging("info", { write: (line) => void lines.push(line) });
    const error = Object.assign(new Error("outer", { cause: new Error("inner") }), { token: "s3cret" });
    report.warn({ error }, "a sentence");
    assert.match(lines[0]!, /"name":"Error","message":"outer"/);
    assert.match(lines[0]!, /"cause":\{"name":"Error","message":"inner"/);
    assert.ok(!lines[0]!.includes("s3cret"));
  });

  it("is written to its end, in order, when the process exits in the same turn", () => {
    const program = `
      import { startLogging } from ${JSON.stringify(logging)};
      const report = startLogging("info");
      for (let i = 0; i < 1_000; i++) report.info({ i }, "line");
      process.exit(3);`;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
      encoding: "utf8",
    });
    assert.equal(status, 3, stderr);
    const told = stderr.split("\n").filter((line) => line.startsWith("{"));
    assert.deepEqual(
      told.map((line) => JSON.parse(line).i),
      Array.from({ length: 1_000 }, (_, i) => i),
    );
  });
});
