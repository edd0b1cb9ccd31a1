import { groups } from "../row.ts";
import type { Report, ReportedRow, Status } from "./report.ts";

const words: Readonly<Record<Status, string>> = { pass: "pass", warn: "warn", fail: "FAIL", not_run: "not run" };
const marks: Readonly<Record<Status, string>> = { pass: "✓", warn: "!", fail: "✗", not_run: "–" };
const colours: Readonly<Record<Status, number>> = { pass: 32, warn: 33, fail: 31, not_run: 90 };

export interface TextOptions {
  readonly hasColour: boolean;
  readonly width: number;
}

const indent = " ".repeat(14);

/** The report for a terminal: a line for each row; if it did not pass, the reason and what to do below it. */
export function reportText(report: Report, { hasColour, width }: TextOptions): string {
  const paint = (code: number, text: string) => (hasColour ? `\x1b[${code}m${text}\x1b[0m` : text);
  const room = Math.max(40, Math.min(width, 110)) - indent.length;
  const lines: string[] = [];
  for (const group of groups) {
    const rows = report.rows.filter((row) => row.group === group);
    if (rows.length === 0) continue;
    lines.push("", paint(1, group));
    for (const row of rows) {
      const head = `${marks[row.status]} ${words[row.status].padEnd(8)}`;
      lines.push(`  ${paint(colours[row.status], head)}  ${row.title}${time(row)}`);
      for (const line of explained(row).flatMap((part) => wrapped(part, room))) lines.push(paint(2, indent + line));
    }
  }
  const { pass, warn, fail, not_run } = report.counts;
  const counted = `${pass} passed, ${warn} with a warning, ${fail} failed, ${not_run} not run, in ${report.seconds} s.`;
  const grade = paint(report.grade === "F" ? 31 : report.grade === "A" ? 32 : 33, `Grade ${report.grade}`);
  const verdict = wrapped(`${report.verdict} ${counted}`, Math.max(40, width));
  return [paint(1, report.url), ...lines, "", grade, ...verdict, ""].join("\n");
}

function time({ milliseconds, status }: ReportedRow): string {
  return status === "not_run" || milliseconds < 1_000 ? "" : `  (${(milliseconds / 1_000).toFixed(1)} s)`;
}

function explained({ status, seen, atFault, next }: ReportedRow): readonly string[] {
  if (status === "pass") return [];
  return [seen, ...(atFault ? [`At fault: ${atFault}.`] : []), ...(next ? [`Next: ${next}`] : [])];
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.replaceAll(/\p{Cc}/gu, "\uFFFD").split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
