import type { AccountHome } from "../../account/homes.ts";
import type { Icon } from "../../web/icons.ts";

interface StateWords {
  readonly icon: Icon;
  readonly look: "good" | "warn" | "bad";
  readonly words: string;
}

/** The state of a home's connection in words. What is not known to work never looks as if it did. */
export function stateWords({ state, accountName, isRenewable }: AccountHome): StateWords {
  switch (state) {
    case "live":
      return { icon: "check", look: "good", words: "Connected." };
    case "waiting":
      return { icon: "clock", look: "warn", words: `No connection to your ${accountName} now. We keep trying.` };
    case "stale":
      return { icon: "clock", look: "warn", words: `Your ${accountName} has confirmed nothing for a while.` };
    case "needs_reauth":
      return { icon: "warning", look: "bad", words: renewalWords(accountName, isRenewable) };
    default:
      return { icon: "warning", look: "bad", words: "The state is not known: nothing watches this home now." };
  }
}

function renewalWords(accountName: string, isRenewable: boolean): string {
  const stopped = `Not connected: your ${accountName} no longer allows it.`;
  return isRenewable ? `${stopped} Connect it again.` : `${stopped} Connect it again in the app that you use.`;
}

const minute = 60_000;
const units = [
  { name: "day", ms: 24 * 60 * minute },
  { name: "hour", ms: 60 * minute },
  { name: "minute", ms: minute },
  { name: "second", ms: 1_000 },
] as const;

/** `12:04 UTC, 1 March 2026`. */
export function clockAndDay(timeMs: number): string {
  const date = new Date(timeMs);
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(date);
  return `${date.toISOString().slice(11, 16)} UTC, ${day}`;
}

/** `5 minutes ago`. */
function ago(timeMs: number, nowMs: number): string {
  const passedMs = Math.max(1_000, nowMs - timeMs);
  const unit = units.find(({ ms }) => passedMs >= ms) ?? units[3];
  const count = Math.floor(passedMs / unit.ms);
  return `${count} ${unit.name}${count === 1 ? "" : "s"} ago`;
}

/** Uses are stored once an hour, so that a shorter time would be wrong. */
export function lastUseWords(usedMs: number | null, nowMs: number): string {
  if (usedMs === null) return "no use is known";
  const isRecent = nowMs - usedMs < 2 * 60 * minute;
  return isRecent ? "last used within the last 2 hours" : `last used ${ago(usedMs, nowMs)}`;
}
