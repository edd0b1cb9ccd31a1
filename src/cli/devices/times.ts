import { BadParameter } from "../../model/errors.ts";
import { type Input, optional } from "../input.ts";

/** A relative time: `3 s ago`, `5 min ago`. */
export function ago(timeMs: number, nowMs = Date.now()): string {
  const seconds = Math.max(0, Math.round((nowMs - timeMs) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** The time of day in the local time zone. */
export function clockTime(timeMs: number): string {
  const time = new Date(timeMs);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** `2026-01-31T12:00:00Z`: a time to the second. */
export function secondOf(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
}

export function dateAndTime(timeMs: number | null | undefined): string {
  return timeMs === null || timeMs === undefined ? "-" : new Date(timeMs).toISOString();
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a time: `2026-01-31T12:00Z`, `15m` for 15 minutes ago, or milliseconds. */
export function timeOption(input: Input, name: string, nowMs = Date.now()): number | undefined {
  const typed = optional(input, name);
  if (typed === undefined) return undefined;
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(typed) ?? [];
  if (count !== undefined && unit !== undefined) return nowMs - Number(count) * units[unit]!;
  const timeMs = /^\d{10,15}$/.test(typed) ? Number(typed) : /^\d{4}-/.test(typed) ? Date.parse(typed) : Number.NaN;
  if (Number.isSafeInteger(timeMs)) return timeMs;
  throw new BadParameter(
    name,
    `--${name} must be a time such as 2026-01-31T12:00Z, or how long ago: 90s, 15m, 2h, 3d.`,
  );
}
