import type { TailedEntry } from "../../store/tables/log.ts";
import type { EventsOf } from "../client-events.ts";
import { writeEventId } from "../event-id.ts";

/** The message for one log entry. */
export interface WebhookMessage {
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

/** The body that tells a receiver that messages may be missing and that it has to read its devices again. */
export function resyncBody(reason: "restored" | "too_many_waiting", nowMs: number): string {
  return JSON.stringify({ type: "resync", timestamp: new Date(nowMs).toISOString(), data: { reason } });
}

/** One message per commit, with all attributes that it changed. Undefined when the filter excludes everything. */
export function messageOf(
  webhookId: string,
  eventsOf: EventsOf,
  entry: TailedEntry,
  epoch: string,
): WebhookMessage | undefined {
  const events = eventsOf(entry, epoch);
  const [first] = events;
  if (!first) return undefined;
  const type = first.name;
  const data =
    type === "attribute"
      ? {
          deviceId: first.data.deviceId,
          updateTime: first.data.updateTime,
          cause: first.data.cause,
          attributes: Object.fromEntries(events.map(({ data }) => [data.name, data.value])),
        }
      : first.data;
  const id = `msg_${webhookId}_${writeEventId({ epoch, position: entry.position })}`;
  return { id, type, body: JSON.stringify({ type, timestamp: new Date(entry.timeMs).toISOString(), data }) };
}
