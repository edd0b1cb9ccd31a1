import type { Exchange, Outcome, ShownMessage } from "../../../simulator/assistants/journal.ts";
import { clock, utcSecond } from "../../../src/outlets/console/times.ts";
import { type Html, html } from "../../../src/web/html.ts";

const outcomeWords: Readonly<Record<Outcome, string>> = {
  waiting: "No answer yet",
  done: "Done",
  inProgress: "In progress",
  unknown: "State unknown",
  refused: "Refused",
  failed: "Failed",
  notSent: "Nothing sent",
};

/** What was said, and both messages of each exchange. Newest first. */
export function exchangeList(title: string, exchanges: readonly Exchange[]): Html {
  return html`<h2>What was said</h2>
${exchanges.length === 0 ? html`<p class="small">Nothing yet.</p>` : html`<ol class="said-list">${exchanges.map((one, place) => exchangeEntry(title, one, place === 0))}</ol>`}`;
}

function exchangeEntry(title: string, exchange: Exchange, isNewest: boolean): Html {
  const { number, said, startedMs, outcome, words, sent, received, later } = exchange;
  const names = [sent, received, later?.message].flatMap((message) => message?.name ?? []);
  const messages = html`<details id="exchange-${number}"${isNewest ? html` open` : undefined}>
<summary>Messages: ${names.join(" → ")}</summary>
<div class="messages">
${sent && messageBox(number, "Sent", sent)}
${received && messageBox(number, "Received", received)}
${later && messageBox(number, `Received later, ${utcSecond(later.timeMs)}`, later.message)}
</div>
</details>`;
  return html`<li class="exchange" id="said-${number}" data-outcome="${outcome}">
<p class="said"><span>${said}</span> ${clock(startedMs)}</p>
<p class="answer"><span class="outcome-word">${outcomeWords[outcome]}</span> ${words === "" ? undefined : html`<span>${title}: ${words}</span>`}</p>
${sent && messages}
</li>`;
}

/** A message with its own scrolling, which works by keyboard. */
export function messageBox(number: number, direction: string, { name, text }: ShownMessage): Html {
  const label = `${direction}: ${name}`;
  return html`<div class="message-box"><h3>${label}</h3><pre tabindex="0" role="region" aria-label="${label}, number ${number}"><code>${text}</code></pre></div>`;
}
