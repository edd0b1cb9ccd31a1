import { type Html, html } from "../../../web/html.ts";

/** A relative time with the exact one in its title; `never` for null. */
export function when(time: string | number | null | undefined, nowMs: number, otherwise = "never"): Html {
  if (time === null || time === undefined) return html`<span class="soft">${otherwise}</span>`;
  const exact = typeof time === "number" ? new Date(time).toISOString() : time;
  return html`<time datetime="${exact}" title="${exact}">${relative(Date.parse(exact), nowMs)}</time>`;
}

const units = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
] as const;

/** `5 min ago`, `in 3 h`, `now`. */
function relative(timeMs: number, nowMs: number): string {
  const awayMs = Math.abs(nowMs - timeMs);
  const unit = units.find(([length]) => awayMs >= length);
  if (!unit) return "now";
  const words = `${Math.floor(awayMs / unit[0])} ${unit[1]}`;
  return timeMs <= nowMs ? `${words} ago` : `in ${words}`;
}
