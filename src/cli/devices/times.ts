import { BadParameter } from "../../model/errors.ts";
import { type Input, optional } from "../input.ts";

/** `3 s ago`, `5 min ago`: a person wants to know how long, not when. */
export function ago(timeMs: number, nowMs = Date.now()): string {
  const seconds = Math.max(0, Math.round((nowMs - timeMs) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** On the clock of whoever reads. */
export function clockTime(timeMs: number): string {
  const time = new Date(timeMs);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** `2026-01-31T12:00:00Z`: a time to the second, for sentences. */
export function secondOf(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
}

export function dateAndTime(timeMs: number | null | undefined): string {
  return timeMs === null || timeMs === undefined ? "-" : new Date(timeMs).toISOString();
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time as people write it: `2026-01-31T12:00Z`, `15m` for that long ago, or milliseconds. */
export function timeOption(input: Input, name: string, nowMs = Date.now()): number | undefined {
  const given = optional(input, name);
  if (given === undefined) return undefined;
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(given) ?? [];
  if (count !== undefined && unit !== undefined) return nowMs - Number(count) * units[unit]!;
  const timeMs = /^\d{10,15}$/.test(given) ? Number(given) : /^\d{4}-/.test(given) ? Date.parse(given) : Number.NaN;
  if (Number.isSafeInteger(timeMs)) return timeMs;
  throw new BadParameter(
    name,
    `--${name} must be a time such as 2026-01-31T12:00Z, or how long ago: 90s, 15m, 2h, 3d.`,
  );
}
