import type { Oddities } from "../model/account.ts";
import type { OverLimit } from "../model/index-map.ts";

/** What was noticed about an account that its 519 attributes can't tell, for the link's status. */
export interface Notices {
  readonly overLimit: { readonly structures: number; readonly thermostats: number; readonly alarms: number };
  readonly oddities: Oddities;
}

export const noNotices: Notices = {
  overLimit: { structures: 0, thermostats: 0, alarms: 0 },
  oddities: { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0 },
};

export function encodeNotices(overLimit: OverLimit, oddities: Oddities): string {
  const { structures, thermostats, alarms } = overLimit;
  const notices: Notices = { overLimit: { structures: structures.length, thermostats, alarms }, oddities };
  return JSON.stringify(notices);
}

/** Undefined when the stored text can't be read: the next snapshot that differs replaces it. */
export function decodeNotices(text: string): Notices | undefined {
  try {
    const { overLimit, oddities } = JSON.parse(text) as Notices;
    return isCounts(overLimit) && isCounts(oddities) ? { overLimit, oddities } : undefined;
  } catch {
    return undefined;
  }
}

function isCounts(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && Object.values(value).every((count) => typeof count === "number")
  );
}
