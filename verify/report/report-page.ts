import { groups } from "../row.ts";
import type { Report, ReportedRow, Status } from "./report.ts";
import { style } from "./report-style.ts";

const words: Readonly<Record<Status, string>> = { pass: "Pass", warn: "Warning", fail: "Fail", not_run: "Not run" };
/** Icons of different shapes, so that colour is not the only difference. */
const shapes: Readonly<Record<Status, string>> = {
  pass: '<path d="M3.5 8.5l3 3 6-7"/>',
  warn: '<path d="M8 3.5v5.5M8 12.2v.3"/>',
  fail: '<path d="M4 4l8 8M12 4l-8 8"/>',
  not_run: '<path d="M4 8h8"/>',
};

/** The report as one HTML file without scripts or references to other files. */
export function reportPage(report: Report): string {
  const { url, grade, verdict, counts, startedTime, seconds, version } = report;
  const when = `${startedTime.slice(0, 10)}, ${startedTime.slice(11, 16)} UTC`;
  const tally = (Object.keys(words) as Status[])
    .filter((status) => counts[status] > 0)
    .map(
      (status) => `<li class="${status}">${icon(status)}<b>${counts[status]}</b> ${words[status].toLowerCase()}</li>`,
    )
    .join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';style-src 'unsafe-inline'">
<title>Grade ${grade}: ${escaped(url)}</title>
<style>${style}</style>
</head>
<body>
<main>
<header>
<div class="grade ${grade}" role="img" aria-label="Grade ${grade}"><span aria-hidden="true">${grade}</span></div>
<div>
<p class="kind">Breezeway verification</p>
<h1>${escaped(url)}</h1>
<p class="verdict">${escaped(verdict)}</p>
</div>
</header>
<ul class="tally" aria-label="Rows">${tally}</ul>
${toDo(report.rows)}
${groups.map((group) => section(group, report.rows)).join("\n")}
<footer>
<p>${escaped(when)}, in ${seconds} seconds, by breezeway ${escaped(version)}.</p>
<p>A: all passed. B: nothing failed, but a row has a warning or was not run. C: only rows beyond the published interface failed. D: fewer than half of the rows were run. F: a row of the published interface failed.</p>
</footer>
</main>
</body>
</html>
`;
}

/** The failed rows, then the warnings, each with what to do. */
function toDo(rows: readonly ReportedRow[]): string {
  const open = ["fail", "warn"].flatMap((wanted) => rows.filter(({ status }) => status === wanted));
  if (open.length === 0) return "";
  const items = open.map(
    ({ name, title, status, next }) =>
      `<li class="${status}">${icon(status)}<p><a href="#${escaped(name)}">${escaped(title)}</a><br>${escaped(next ?? "")}</p></li>`,
  );
  return `<section class="todo"><h2>What to do</h2><ul>${items.join("")}</ul></section>`;
}

function section(group: string, rows: readonly ReportedRow[]): string {
  const own = rows.filter((row) => row.group === group);
  if (own.length === 0) return "";
  return `<section><h2>${escaped(group)}</h2><ul class="rows">${own.map(rowOf).join("")}</ul></section>`;
}

function rowOf({ name, title, proves, status, seen, atFault, next, milliseconds }: ReportedRow): string {
  const took = status === "not_run" ? "" : `<span class="took">${milliseconds} ms</span>`;
  const fault = atFault ? `<p class="fault"><b>At fault</b> ${escaped(atFault)}</p>` : "";
  const advice = next ? `<p class="next"><b>Next</b> ${escaped(next)}</p>` : "";
  return `<li class="row ${status}" id="${escaped(name)}">
<p class="status">${icon(status)}<span>${words[status]}</span></p>
<div><h3>${escaped(title)}${took}</h3><p class="proves">${escaped(proves)}</p><p class="seen">${escaped(seen)}</p>${fault}${advice}</div>
</li>`;
}

function icon(status: Status): string {
  return `<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${shapes[status]}</svg>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
