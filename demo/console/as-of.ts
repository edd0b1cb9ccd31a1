import { type Html, html } from "../../src/web/html.ts";

/** `12:03:04 UTC`, as the page writes times. */
export function utcTime(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(11, 19)} UTC`;
}

/** What was last known, below a state that is shown as unknown. */
export function lastKnown(words: string, asOfMs: number): Html {
  return html`<p class="was">${words} at ${utcTime(asOfMs)}</p>`;
}
