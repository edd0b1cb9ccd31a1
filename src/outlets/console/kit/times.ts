import { type Html, html } from "../../../web/html.ts";
import { ago, length, utcSecond } from "../times.ts";

/** A relative time with the exact one in its title, such as `5 min ago` or `in 3 h`; `never` for null. */
export function when(time: string | number | null | undefined, nowMs: number, otherwise = "never"): Html {
  if (time === null || time === undefined) return html`<span class="soft">${otherwise}</span>`;
  const timeMs = typeof time === "number" ? time : Date.parse(time);
  if (timeMs <= nowMs) return ago(timeMs, nowMs);
  return html`<time datetime="${new Date(timeMs).toISOString()}" title="${utcSecond(timeMs)}">in ${length((timeMs - nowMs) / 1_000)}</time>`;
}

/** The age of a part that an open page does not read again, although the page is live. */
export function readOnce(nowMs: number): Html {
  return html`<p class="small">Read ${ago(nowMs, nowMs)}, and not refreshed: reload the page to read it again.</p>`;
}
