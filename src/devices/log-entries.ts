import type { Cause } from "../model/cause.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { LogEntry } from "../store/tables/log.ts";

/** How a commit to a device stands in the log: its cause, and each changed attribute with its new value. */
export interface AttributeBody {
  readonly cause: Cause;
  readonly changes: readonly (readonly [key: AttributeKey, value: string | null])[];
}

export function attributeEntry(
  userId: UserId,
  deviceId: DeviceId,
  timeMs: number,
  cause: Cause,
  changes: readonly { readonly key: AttributeKey; readonly value: string | null }[],
): LogEntry {
  const body: AttributeBody = { cause, changes: changes.map(({ key, value }) => [key, value]) };
  return { userId, deviceId, kind: "attribute", timeMs, body: JSON.stringify(body) };
}

/** A device that came to be; its attributes follow in entries of their own. */
export function deviceEntry(userId: UserId, deviceId: DeviceId, timeMs: number, what: "added" | "removed"): LogEntry {
  return { userId, deviceId, kind: "device", timeMs, body: JSON.stringify({ what }) };
}

export function readAttributeBody(entry: LogEntry): AttributeBody {
  return JSON.parse(entry.body) as AttributeBody;
}
