import type { Group } from "../row.ts";

export type Status = "pass" | "warn" | "fail" | "not_run";

/** What became of one row, in words that hold no secret. */
export interface ReportedRow {
  readonly name: string;
  readonly group: Group;
  readonly title: string;
  readonly proves: string;
  readonly essential: boolean;
  readonly status: Status;
  /** What was seen; of a row that was not run, why. */
  readonly seen: string;
  /** Only of a failed row. */
  readonly atFault: string | null;
  /** What to do; null when there is nothing to do. */
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
  /** What the grade means here, in a sentence. */
  readonly verdict: string;
  readonly counts: Readonly<Record<Status, number>>;
  readonly rows: readonly ReportedRow[];
}

/**
 * A: all rows passed that were asked for. B: nothing failed, but not all was seen, or something should be looked at. C: only what goes beyond
 * the published interface failed. D: nothing failed, but fewer than half of the rows were run. F: something that the
 * interface promises failed.
 */
export function gradeOf(rows: readonly Pick<ReportedRow, "status" | "essential">[]): Grade {
  if (rows.some(({ status, essential }) => status === "fail" && essential)) return "F";
  if (rows.some(({ status }) => status === "fail")) return "C";
  if (rows.every(({ status }) => status === "pass")) return "A";
  return rows.filter(({ status }) => status !== "not_run").length * 2 < rows.length ? "D" : "B";
}

/** `patientRows`: how many rows were left out because they take long. */
export function verdictOf(
  grade: Grade,
  rows: readonly Pick<ReportedRow, "status" | "title">[],
  patientRows = 0,
): string {
  const failed = rows.filter(({ status }) => status === "fail").map(({ title }) => `"${title}"`);
  if (failed.length > 0) {
    const kept = grade === "C" ? " What the published interface promises is kept." : "";
    return `It failed ${failed.join(" and ")}.${kept}`;
  }
  if (grade === "A") {
    const more = patientRows === 0 ? "" : ` ${patientRows} more can be run, which takes a minute: --patient.`;
    return `All ${rows.length} rows passed.${more}`;
  }
  const { warn, not_run } = countsOf(rows);
  const unseen = not_run === 0 ? "" : ` ${rows.length - not_run} of ${rows.length} rows were run.`;
  const little = grade === "D" ? " That is too little to say more." : "";
  return `Nothing failed${warn === 0 ? "" : ", but something should be looked at"}.${unseen}${little}`;
}

export function countsOf(rows: readonly Pick<ReportedRow, "status">[]): Record<Status, number> {
  const counts = { pass: 0, warn: 0, fail: 0, not_run: 0 };
  for (const { status } of rows) counts[status] += 1;
  return counts;
}
