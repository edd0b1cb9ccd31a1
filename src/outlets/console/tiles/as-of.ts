import { type Html, html } from "../../../web/html.ts";

/** A time as the page writes it: `12:03:04 UTC`. */
export function utcTime(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(11, 19)} UTC`;
}

/** The last known state with its time; it stands below a state that is shown as unknown. */
export function lastKnown(words: string, asOfMs: number): Html {
  return html`<p class="was">${words} at ${utcTime(asOfMs)}</p>`;
}
