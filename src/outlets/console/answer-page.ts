import { type Html, html } from "../../web/html.ts";
import { type Page, pageOf } from "../../web/page.ts";

/** The answer of an act that is done for its answer, such as a check. */
export function answerPage(title: string, answer: object, to: string): Page {
  const main = html`<h1>${title}</h1>
<dl class="answer">${Object.entries(answer).map(([name, value]) => html`<dt>${name}</dt><dd>${shown(value)}</dd>`)}</dl>
<p><a class="button" href="${to}">Back</a></p>`;
  return pageOf({ title: `${title} · Breezeway`, brand: undefined, main, moreStyle: answerStyle });
}

function shown(value: unknown): Html {
  if (Array.isArray(value) && value.every((one) => typeof one === "object" && one !== null)) return table(value);
  if (typeof value === "object" && value !== null) {
    return html`<pre tabindex="0">${JSON.stringify(value, null, 2)}</pre>`;
  }
  return html`<bdi>${plain(value)}</bdi>`;
}

function table(rows: readonly object[]): Html {
  if (rows.length === 0) return html`none`;
  const names = [...new Set(rows.flatMap(Object.keys))];
  return html`<table><thead><tr>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) => html`<tr>${names.map((name) => html`<td>${plain((row as Record<string, unknown>)[name])}</td>`)}</tr>`,
  )}</tbody></table>`;
}

function plain(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const answerStyle = `
.card{max-width:56rem}
.answer{margin:0}
.answer dt{font-weight:600;margin-top:.75rem}
.answer dd{margin:.25rem 0 0}
.answer pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:0;padding:.5rem;background:var(--tint);border-radius:.5rem;font:.75rem/1.5 ui-monospace,Menlo,Consolas,monospace}
.answer table{width:100%;border-collapse:collapse;font-size:.8125rem}
.answer th,.answer td{text-align:left;padding:.375rem .75rem .375rem 0;border-top:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
`;
