import type { Activity, ActivityLog } from "../activity-log.ts";
import { clip, type Html, html } from "./html.ts";

const listedActivities = 25;

/** The latest entries of the activity log, newest first. */
export function activityList(log: ActivityLog, accountId: string): Html {
  const recent = log.entries(Math.max(log.lastSequence - 500, 0));
  const own = recent.filter((entry) => entry.accountId === accountId || entry.accountId === null);
  if (own.length === 0) return html`<p class="soft">Nothing yet.</p>`;
  return html`<ol class="log">${own.slice(-listedActivities).reverse().map(line)}</ol>`;
}

function line({ sequence: _, time, kind, accountId: __, ...details }: Activity): Html {
  const text = Object.entries(details).map(([name, value]) => `${name} ${String(value)}`);
  return html`<li><b>${time.slice(11, 19)} ${kind}</b> ${clip(text.join(" · "), 180)}</li>`;
}
