import type { Report } from "../../../simulator/assistants/journal.ts";
import { clock } from "../../../src/outlets/console/times.ts";
import { type Html, html } from "../../../src/web/html.ts";
import { messageBox } from "./exchange-list.ts";

/** What the service told the maker by itself. Newest first. */
export function reportList(title: string, reports: readonly Report[]): Html {
  return html`<h2>Reports to ${title}</h2>
${reports.length === 0 ? html`<p class="small">None yet. Change something in the house.</p>` : html`<ol class="said-list">${reports.map(reportEntry)}</ol>`}`;
}

function reportEntry({ number, timeMs, words, message, refusal }: Report): Html {
  return html`<li id="told-${number}">
<p>${clock(timeMs)} ${refusal && html`<span class="refusal">${refusal}</span> `}${words}</p>
<details id="report-${number}"><summary>${message.name}</summary>${messageBox(number, "Received", message)}</details>
</li>`;
}
