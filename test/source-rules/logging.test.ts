import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { startLogging } from "../../src/runtime/process/log.ts";

const logging = new URL("../../src/runtime/process/log.ts", import.meta.url).href;

describe("the log", () => {
  it("redacts fields with the name of a secret, whatever they hold and at any depth", () => {
    const lines: string[] = [];
    const report = startLogging("info", { write: (line) => void lines.push(line) });
    const fields = {
      userId: 7,
      accessToken: "s3cret",
      password: ["s3cret"],
      request: { route: "/v3", secToken: "s3cret", inner: [{ secret: { value: "s3cret" } }] },
      failure: Object.assign(new Error("not under the name error"), { token: "s3cret" }),
    };
    report.info(fields, "a sentence");
    const { time, ...line } = JSON.parse(lines[0]!);
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(line, {
      level: "info",
      userId: 7,
      accessToken: "(secret)",
      password: "(secret)",
      request: { route: "/v3", secToken: "(secret)", inner: [{ secret: "(secret)" }] },
      failure: { token: "(secret)" },
      message: "a sentence",
    });
    assert.equal(fields.accessToken, "s3cret", "the caller's object stays as it is");
    assert.equal(fields.request.secToken, "s3cret");
  });

  it("writes level, time, fields and message in this order, and nothing else", () => {
    const lines: string[] = [];
    const report = startLogging("info", { write: (line) => void lines.push(line) });
    report.info({ requestId: "an id", status: 200, ms: 0.5 }, "request answered");
    assert.match(
      lines.join(""),
      /^\{"level":"info","time":"[^"]+","requestId":"an id","status":200,"ms":0\.5,"message":"request answered"\}\n$/,
    );
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

  it("writes whatever it is handed as JSON, whatever the line before it held", () => {
    const lines: string[] = [];
    const report = startLogging("debug", { write: (line) => void lines.push(line) });
    const circle: Record<string, unknown> = {};
    circle.itself = circle;
    const values = [
      "",
      "plain",
      'a "quote"',
      "a\nline",
      "\\",
      "\u2028é\ud800",
      0,
      -0,
      0.1,
      1e21,
      true,
      null,
      [1],
      { a: "b" },
    ];
    for (const value of [...values, ...values, "plain", "plain", 7, 7]) {
      report.debug({ value, 'an "odd" name': value }, 'a "sentence"');
      const { value: told, ...rest } = JSON.parse(lines.at(-1)!);
      assert.deepEqual(told, JSON.parse(JSON.stringify(value)));
      assert.deepEqual(rest['an "odd" name'], told);
      assert.equal(rest.message, 'a "sentence"');
      assert.match(lines.at(-1)!, /^[^\n]*\n$/);
    }
    report.info({ gone: undefined, act: () => 1, none: Number.NaN, circle, error: "a word" }, "odd");
    const { time: _, ...odd } = JSON.parse(lines.at(-1)!);
    assert.deepEqual(odd, { level: "info", none: null, circle: "(can't be written)", error: "a word", message: "odd" });
  });

  it("tells what its level asks for and nothing below it", () => {
    for (const [level, told] of [
      ["debug", ["debug", "info", "warn", "error"]],
      ["warn", ["warn", "error"]],
      ["silent", []],
    ] as const) {
      const lines: string[] = [];
      const report = startLogging(level, { write: (line) => void lines.push(line) });
      for (const one of ["debug", "info", "warn", "error"] as const) report[one]({}, "a sentence");
      assert.deepEqual(
        lines.map((line) => JSON.parse(line).level),
        told,
      );
    }
  });

  for (const [end, statement, code] of [
    ["exits in the same turn", "process.exit(3);", 3],
    ["ends by an uncaught error", 'throw new Error("uncaught");', 1],
  ] as const) {
    it(`is complete and in order when the process ${end}`, () => {
      const program = `
        import { startLogging } from ${JSON.stringify(logging)};
        const report = startLogging("info");
        for (let i = 0; i < 1_000; i++) report.info({ i }, "line");
        ${statement}`;
      const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
        encoding: "utf8",
      });
      assert.equal(status, code, stderr);
      const written = stderr.split("\n").filter((line) => line.startsWith('{"level"'));
      assert.deepEqual(
        written.map((line) => JSON.parse(line).i),
        Array.from({ length: 1_000 }, (_, i) => i),
      );
    });
  }
});
