import type { Oddities } from "../model/account.ts";
import type { OverLimit } from "../model/index-map.ts";

/** What was noticed about an account that its 519 attributes can't tell, for the link's status. */
export interface Notices {
  readonly overLimit: { readonly structures: number; readonly thermostats: number; readonly alarms: number };
  readonly oddities: Oddities;
}

export function encodeNotices(overLimit: OverLimit, oddities: Oddities): string {
  const { structures, thermostats, alarms } = overLimit;
  const notices: Notices = { overLimit: { structures: structures.length, thermostats, alarms }, oddities };
  return JSON.stringify(notices);
}

export function decodeNotices(text: string): Notices {
  return JSON.parse(text) as Notices;
}
