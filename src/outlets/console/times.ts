import { type Html, html } from "../../web/html.ts";

/** A time as how long ago it was; the script keeps it up to date, and the exact time is in its title. */
export function ago(timeMs: number, nowMs: number): Html {
  const time = new Date(timeMs).toISOString();
  const seconds = Math.max(0, Math.round((nowMs - timeMs) / 1_000));
  return html`<time datetime="${time}" title="${time}" data-ago>${length(seconds)} ago</time>`;
}

/** `12:04:31 UTC`, with the date in the title. */
export function clock(timeMs: number): Html {
  const time = new Date(timeMs).toISOString();
  return html`<time datetime="${time}" title="${time}">${time.slice(11, 19)}</time>`;
}

/** `25 s`, `3 min`, `2 h`, `4 days`. */
export function length(seconds: number): string {
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 6_000) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
