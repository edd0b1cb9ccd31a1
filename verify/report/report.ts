import type { Group } from "../row.ts";

export type Status = "pass" | "warn" | "fail" | "not_run";

/** The result of one row. Its texts hold no secret. */
export interface ReportedRow {
  readonly name: string;
  readonly group: Group;
  readonly title: string;
  readonly proves: string;
  readonly essential: boolean;
  readonly status: Status;
  /** What the row saw, or why it was not run. */
  readonly seen: string;
  /** Null unless the row failed. */
  readonly atFault: string | null;
  /** What to do; null if there is nothing to do. */
  readonly next: string | null;
  readonly milliseconds: number;
}

export type Grade = "A" | "B" | "C" | "D" | "F";

export interface Report {
  readonly url: string;
  readonly startedTime: string;
  readonly seconds: number;
  readonly version: string;
  readonly grade: Grade;
  /** A sentence that explains the grade. */
  readonly verdict: string;
  readonly counts: Readonly<Record<Status, number>>;
  readonly rows: readonly ReportedRow[];
}

/**
 * A: all selected rows passed. B: nothing failed, but a row has a warning or was not run. C: only rows beyond the
 * published interface failed. D: nothing failed, but fewer than half of the rows were run. F: a row of the published
 * interface failed.
 */
export function gradeOf(rows: readonly Pick<ReportedRow, "status" | "essential">[]): Grade {
  if (rows.some(({ status, essential }) => status === "fail" && essential)) return "F";
  if (rows.some(({ status }) => status === "fail")) return "C";
  if (rows.every(({ status }) => status === "pass")) return "A";
  return rows.filter(({ status }) => status !== "not_run").length * 2 < rows.length ? "D" : "B";
}

/** `patientRows`: number of rows that only run with --patient. */
export function verdictOf(
  grade: Grade,
  rows: readonly Pick<ReportedRow, "status" | "title">[],
  patientRows = 0,
): string {
  const failed = rows.filter(({ status }) => status === "fail").map(({ title }) => `"${title}"`);
  if (failed.length > 0) {
    const kept = grade === "C" ? " All rows of the published interface passed." : "";
    return `These rows failed: ${failed.join(" and ")}.${kept}`;
  }
  if (grade === "A") {
    const more = patientRows === 0 ? "" : ` ${patientRows} more can be run with --patient, which takes a minute.`;
    return `All ${rows.length} rows passed.${more}`;
  }
  const { warn, not_run } = countsOf(rows);
  const unseen = not_run === 0 ? "" : ` ${rows.length - not_run} of ${rows.length} rows were run.`;
  const little = grade === "D" ? " That is too few for a verdict." : "";
  return `Nothing failed${warn === 0 ? "" : ", but there is a warning"}.${unseen}${little}`;
}

export function countsOf(rows: readonly Pick<ReportedRow, "status">[]): Record<Status, number> {
  const counts = { pass: 0, warn: 0, fail: 0, not_run: 0 };
  for (const { status } of rows) counts[status] += 1;
  return counts;
}
