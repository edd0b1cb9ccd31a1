import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rows } from "../../verify/all-rows.ts";
import { gradeOf, type Report, type ReportedRow, type Status } from "../../verify/report/report.ts";
import { reportPage } from "../../verify/report/report-page.ts";
import { reportText } from "../../verify/report/report-text.ts";
import { groups } from "../../verify/row.ts";
import { Secrets } from "../../verify/secrets.ts";
import { assertAccessible } from "../browser/axe.ts";
import { browserOfFile, devices, looksOf, skip } from "../browser/world.ts";

describe("a verification's report", () => {
  it("grades by which rows failed, and whether the published interface requires them", () => {
    for (const [statuses, grade] of [
      [["pass", "pass"], "A"],
      [["pass", "not_run"], "B"],
      [["warn", "pass"], "B"],
      [["pass", "not_run", "not_run"], "D"],
      [["pass", "fail beyond"], "C"],
      [["fail", "fail beyond"], "F"],
    ] as const) {
      const graded = statuses.map((word) => ({
        status: word.split(" ")[0] as Status,
        essential: word !== "fail beyond",
      }));
      assert.equal(gradeOf(graded), grade, statuses.join());
    }
  });

  it("says in words, on a terminal, what to do about each row that did not pass", () => {
    const text = reportText(sampleReport({ seen: "It was \x1b[31m so." }), { hasColour: false, width: 60 });
    for (const word of ["✗ FAIL", "At fault: the service.", "Next: Mend it.", "Grade F", "– not run"]) {
      assert.ok(text.includes(word), word);
    }
    assert.ok(!text.includes("\x1b"), "a control sequence of the terminal was not removed");
    assert.ok(text.split("\n").every((line) => line.length <= 60));
  });

  it("is one page without scripts or references to other files, and escapes all data", () => {
    const page = reportPage(sampleReport({ seen: '<img src="https://x.example/">' }));
    assert.doesNotMatch(page, /<script|<img|<link|@import|url\(|\shref="[^#]/i);
    assert.match(page, /&lt;img src=&quot;https:/);
  });

  it("holds no secret, in plain text or URL-encoded", () => {
    const secrets = new Secrets();
    secrets.keep("correct horse");
    assert.equal(secrets.without("a correct horse, a correct%20horse"), "a …, a …");
  });

  it("lists for each row only dependencies that come before it", () => {
    const before = new Set<string>();
    for (const { name, after, unless = [] } of rows) {
      for (const other of [...after, ...unless]) assert.ok(before.has(other), `${name} builds on ${other}`);
      assert.ok(!before.has(name), name);
      before.add(name);
    }
  });

  const browser = browserOfFile();
  it("is accessible, in light and dark mode, on a phone and a desktop", { skip, timeout: 60_000 }, async () => {
    for (const { device, scheme } of looksOf(1)) {
      const context = await browser().newContext({ ...devices[device], colorScheme: scheme });
      const tab = await context.newPage();
      await tab.setContent(reportPage(sampleReport()));
      await assertAccessible(tab);
      const isWide = await tab.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth");
      assert.ok(!isWide, `${device} scrolls sideways`);
      await context.close();
    }
  });
});

/** A report with a row of each status. */
function sampleReport(change: Partial<ReportedRow> = {}): Report {
  const row = (status: Status, place: number): ReportedRow => ({
    name: `row-${place}`,
    group: groups[place % groups.length]!,
    title: `The ${status} row`,
    proves: "Something that an integrator wants to know.",
    essential: true,
    status,
    seen: "It was so.",
    atFault: status === "fail" ? "the service" : null,
    next: status === "pass" ? null : "Mend it.",
    milliseconds: 1_234,
    ...change,
  });
  return {
    url: "https://breezeway.example",
    startedTime: "2026-01-02T03:04:05.678Z",
    seconds: 4.2,
    version: "1.2.3",
    grade: "F",
    verdict: 'These rows failed: "The fail row".',
    counts: { pass: 1, warn: 1, fail: 1, not_run: 1 },
    rows: (["pass", "warn", "fail", "not_run"] as const).map(row),
  };
}
