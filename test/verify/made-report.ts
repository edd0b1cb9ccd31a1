import type { Report, ReportedRow, Status } from "../../verify/report/report.ts";

const row: ReportedRow = {
  name: "alive",
  group: "The service itself",
  title: "The service is alive",
  proves: "/livez answers 200.",
  essential: false,
  status: "pass",
  seen: "GET /livez answered 200.",
  atFault: null,
  next: null,
  milliseconds: 4,
};

/** A report with one row of each status. */
export function madeReport(more: Partial<Report> = {}, seen = row.seen): Report {
  const statuses: readonly Status[] = ["pass", "warn", "fail", "not_run"];
  return {
    url: "http://127.0.0.1:9",
    startedTime: "2026-03-01T09:30:00.000Z",
    seconds: 6.2,
    version: "1.2.3",
    grade: "F",
    verdict: "A row failed.",
    counts: { pass: 1, warn: 1, fail: 1, not_run: 1 },
    rows: statuses.map((status) => ({
      ...row,
      name: status,
      status,
      seen,
      atFault: status === "fail" ? "the service" : null,
      next: status === "pass" ? null : "Repair it.",
    })),
    ...more,
  };
}
