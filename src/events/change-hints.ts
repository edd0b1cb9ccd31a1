import type { ClientEvent, PlacedEntry } from "./client-events.ts";
import { writeEventId } from "./event-id.ts";

/** The heartbeat interval of the console's stream: its pages show within 5 s that a stream is silent. */
export const changesHeartbeatSeconds = 2;

/** What an entry of the log is about, without its content: a page that shows it reads again. */
export function changeHints(
  entry: PlacedEntry & { readonly tenantId?: number | null },
  epoch: string,
): readonly ClientEvent[] {
  const { kind, tenantId = null, userId, deviceId, timeMs: time, position } = entry;
  if (kind === "revocation") return [];
  return [{ id: writeEventId({ epoch, position }), name: "change", data: { deviceId, kind, tenantId, userId, time } }];
}
