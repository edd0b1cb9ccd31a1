import { type Html, html } from "../../../web/html.ts";
import { clock } from "../times.ts";

/** The last known state with its time; it stands below a state that is shown as unknown. */
export function lastKnown(words: string, asOfMs: number): Html {
  return html`<p class="was">${words} at ${clock(asOfMs)}</p>`;
}
