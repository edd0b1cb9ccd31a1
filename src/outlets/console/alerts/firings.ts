import { type Html, html } from "../../../web/html.ts";
import { ago } from "../times.ts";

export function valueWords(value: string | null): Html {
  return value === null ? html`<span class="soft">blank</span>` : html`<span class="code"><bdi>${value}</bdi></span>`;
}

export interface DryRun {
  readonly events: number;
  readonly fired: number;
  readonly firings: readonly { readonly time: number; readonly value: string | null }[];
}

/** When an alert would have fired, newest first. */
export function firingsOf({ events, fired, firings }: DryRun, nowMs: number): Html {
  const lines = firings.toReversed().slice(0, 10);
  return html`<p role="status">It would have fired <strong>${fired === 1 ? "once" : `${fired} times`}</strong> at ${events} ${events === 1 ? "event" : "events"}.</p>
${
  lines.length === 0
    ? undefined
    : html`<ul class="lines">${lines.map(({ time, value }) => html`<li><span>${valueWords(value)}</span> <span class="small">${ago(time, nowMs)}</span></li>`)}</ul>`
}
${fired > lines.length ? html`<p class="small">The last ${lines.length} of them.</p>` : undefined}`;
}
