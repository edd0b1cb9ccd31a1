import type { Home, Oddities } from "../home/home.ts";
import { limits } from "../model/limits.ts";
import type { IndexMap, OverLimit } from "../virtual-device/index-map.ts";
import { countStrayAlarms } from "../virtual-device/stray-alarms.ts";

/** Notices about an account that its 519 attributes can't show, for the link's status. */
export interface Notices {
  readonly overLimit: {
    readonly structures: number;
    readonly thermostats: number;
    readonly alarms: number;
    /** Things that are not stored; left out when all are. */
    readonly things?: number;
  };
  readonly oddities: Oddities & {
    /** Alarms that belong to no known structure. */
    readonly strayAlarms: number;
  };
}

export const noNotices: Notices = {
  overLimit: { structures: 0, thermostats: 0, alarms: 0 },
  oddities: { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0, strayAlarms: 0 },
};

export function encodeNotices(overLimit: OverLimit, home: Home, map: IndexMap): string {
  const { structures, thermostats, alarms } = overLimit;
  const things = thingsOverLimit(home);
  const notices: Notices = {
    overLimit: { structures: structures.length, thermostats, alarms, ...(things > 0 && { things }) },
    oddities: { ...home.oddities, strayAlarms: countStrayAlarms(home, map.structures) },
  };
  return JSON.stringify(notices);
}

function thingsOverLimit({ structures, thermostats, alarms, others }: Home): number {
  const devices = thermostats.byId.size + alarms.byId.size + (others?.byId.size ?? 0);
  return Math.max(0, structures.byId.size + devices - limits.thingsPerLink);
}

/** Undefined when the stored text can't be parsed; the next snapshot that differs replaces it. */
export function decodeNotices(text: string): Notices | undefined {
  try {
    const { overLimit, oddities } = JSON.parse(text) as Notices;
    if (!isCounts(overLimit) || !isCounts(oddities)) return undefined;
    // An earlier version may have stored fewer counts.
    return { overLimit, oddities: { ...noNotices.oddities, ...oddities } };
  } catch {
    return undefined;
  }
}

function isCounts(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && Object.values(value).every((count) => typeof count === "number")
  );
}
