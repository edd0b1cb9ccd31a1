import { type Html, html } from "../../web/html.ts";

/** A time as how long ago it was; the script keeps it up to date, and the exact time is in its title. */
export function ago(timeMs: number, nowMs: number): Html {
  const seconds = Math.max(0, Math.round((nowMs - timeMs) / 1_000));
  return html`<time datetime="${new Date(timeMs).toISOString()}" title="${utcSecond(timeMs)}" data-ago>${length(seconds)} ago</time>`;
}

/** `12:04:31 UTC`, with the date in the title. The script writes it in the reader's zone, and the date of another day. */
export function clock(timeMs: number): Html {
  return localTime(timeMs, "clock", `${utcSecond(timeMs).slice(11)}`);
}

/** `2026-03-01 09:30 UTC`. The script writes it in the reader's zone. */
export function minute(timeMs: number): Html {
  return localTime(timeMs, "minute", utcMinute(timeMs));
}

function localTime(timeMs: number, form: "clock" | "minute", words: string): Html {
  return html`<time datetime="${new Date(timeMs).toISOString()}" title="${utcSecond(timeMs)}" data-local="${form}">${words}</time>`;
}

/** `2026-03-01 09:30:12 UTC`. */
export function utcSecond(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** `2026-03-01 09:30 UTC`. */
export function utcMinute(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** `25 s`, `3 min`, `2 h`, `4 days`. */
export function length(seconds: number): string {
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 6_000) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
