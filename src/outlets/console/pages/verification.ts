import { type Html, html } from "../../../web/html.ts";
import { iconOf } from "../../../web/icons.ts";
import type { ConsolePage } from "../console-page.ts";
import { asCommand } from "../kit/as-command.ts";
import { type StatusLevel, state } from "../kit/state.ts";
import { factsOf, tableOf } from "../kit/table.ts";
import { when } from "../kit/times.ts";
import { type ShownVerification, verificationBy, verificationState, verificationWords } from "./verification-state.ts";

interface ShownRow {
  readonly name: string;
  readonly group: string;
  readonly title: string;
  readonly proves: string;
  readonly status: "pass" | "warn" | "fail" | "not_run";
  readonly seen: string;
  readonly atFault: string | null;
  readonly next: string | null;
}

const statuses: Readonly<Record<ShownRow["status"], readonly [mood: StatusLevel, words: string]>> = {
  pass: ["good", "passed"],
  warn: ["warn", "warning"],
  fail: ["bad", "failed"],
  not_run: ["off", "not run"],
};

/** One report of `breezeway verify`: what to do first, then all rows. */
export const verification: ConsolePage = {
  path: "/verifications/:verification",
  title: "Verification",
  subject: "deployment",
  async render({ call, callOf, address, nowMs, parameter, baseUrl }) {
    const shown: ShownVerification & { readonly rows: readonly ShownRow[] } = await call("verification show", {
      verification: parameter("verification"),
    });
    const { verificationId, url, startedTime, seconds, version, rows } = shown;
    const showing = callOf("verification show");
    return {
      verification: html`<p><a href="${address("/system")}">System</a></p>
<h2>${verificationState(shown)}</h2>
<p>${verificationWords(shown)}</p>
${factsOf([
  ["Address", html`<bdi dir="ltr">${url}</bdi>`],
  ["Started", when(startedTime, nowMs)],
  ["Took", seconds === null ? undefined : `${seconds} s`],
  ["By", verificationBy(shown)],
  ["Version", version ?? undefined],
])}
${showing && asCommand(showing, { verification: verificationId }, baseUrl)}`,
      "what-to-do": whatToDo(rows),
      rows: html`${[...new Set(rows.map(({ group }) => group))].map(
        (group) => html`<h2>${group}</h2>
${rowTable(
  group,
  rows.filter((row) => row.group === group),
)}`,
      )}`,
    };
  },
};

/** The failed rows, then the warnings. */
function whatToDo(rows: readonly ShownRow[]): Html | undefined {
  const open = [...rows.filter(({ status }) => status === "fail"), ...rows.filter(({ status }) => status === "warn")];
  if (open.length === 0) return undefined;
  return html`<h2>What to do</h2>
<ul class="needs">${open.map(
    ({ status, title, seen, atFault, next }) =>
      html`<li class="${status === "fail" ? "bad" : "warn"}">${iconOf(status === "fail" ? "warning" : "clock")}<span><strong>${statuses[status][1]}: ${title}.</strong> ${seen} ${
        atFault === null ? undefined : `At fault: ${atFault}. `
      }<span class="soft">${next ?? undefined}</span></span></li>`,
  )}</ul>`;
}

function rowTable(group: string, rows: readonly ShownRow[]): Html {
  return tableOf<ShownRow>(
    group,
    [
      { title: "Result", cell: ({ status }) => state(...statuses[status]) },
      { title: "Row", cell: ({ title, proves }) => html`${title}<br><span class="small">${proves}</span>` },
      { title: "What was seen", cell: ({ seen }) => seen },
    ],
    rows,
  );
}
