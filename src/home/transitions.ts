import type { Account, Listing, Sighting } from "./account.ts";

/**
 * Whether a newer snapshot may replace a waiting one without losing a transition: alarm states, away and fan states are
 * equal for the same ids, and the same parts are unreadable. Names and timeouts may differ, since only their newest
 * value matters.
 */
export function sameTransitions(waiting: Account, newer: Account): boolean {
  return (
    sameAlarms(waiting, newer) &&
    sameListing(waiting.structures, newer.structures, ["away", "listsDevices"]) &&
    sameListing(waiting.thermostats, newer.thermostats, ["structureId", "fanTimerActive"])
  );
}

/** Whether all alarm states are equal. A commit before a snapshot whose alarm states differ should hurry. */
export function sameAlarms(waiting: Account, newer: Account): boolean {
  return (
    waiting.speaksOfAlarms === newer.speaksOfAlarms &&
    sameListing(waiting.alarms, newer.alarms, ["structureId", "coAlarmState", "smokeAlarmState"])
  );
}

function sameListing<T>(waiting: Listing<T>, newer: Listing<T>, fields: readonly (keyof T)[]): boolean {
  if (waiting.isWhole !== newer.isWhole || waiting.byId.size !== newer.byId.size) return false;
  for (const [id, sighting] of waiting.byId) {
    const other = newer.byId.get(id);
    if (other === undefined || !sameSighting(sighting, other, fields)) return false;
  }
  return true;
}

function sameSighting<T>(waiting: Sighting<T>, newer: Sighting<T>, fields: readonly (keyof T)[]): boolean {
  if (waiting.isRead !== newer.isRead) return false;
  const before: Partial<T> = waiting.isRead ? waiting.object : waiting.partial;
  const after: Partial<T> = newer.isRead ? newer.object : newer.partial;
  return fields.every((field) => before[field] === after[field]);
}
