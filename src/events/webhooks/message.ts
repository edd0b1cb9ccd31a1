import type { TailedEntry } from "../../store/tables/log.ts";
import type { ClientEvent, EventsOf } from "../client-events.ts";
import { writeEventId } from "../event-id.ts";

/** A message for one log entry. */
export interface WebhookMessage {
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

/** The body that tells a receiver that messages may be missing and that it has to read its devices again. */
export function resyncBody(reason: "restored" | "too_many_waiting", nowMs: number): string {
  return JSON.stringify({ type: "resync", timestamp: new Date(nowMs).toISOString(), data: { reason } });
}

/** The id of the message about a commit's things, given the id of the one about its attributes. */
export function thingMessageId(messageId: string): string {
  return `${messageId}_things`;
}

/**
 * The messages for one log entry: one for a commit with all attributes that it changed, then one with all things, or one
 * for another event. None when the filter excludes everything.
 */
export function messagesOf(
  webhookId: string,
  eventsOf: EventsOf,
  entry: TailedEntry,
  epoch: string,
): readonly WebhookMessage[] {
  const events = eventsOf(entry, epoch);
  if (events.length === 0) return [];
  const id = `msg_${webhookId}_${writeEventId({ epoch, position: entry.position })}`;
  const timestamp = new Date(entry.timeMs).toISOString();
  const attributes = events.filter(({ name }) => name === "attribute");
  const things = events.filter(({ name }) => name === "thing");
  const message = (id: string, type: ClientEvent["name"], data: object): WebhookMessage => ({
    id,
    type,
    body: JSON.stringify({ type, timestamp, data }),
  });
  const [attribute, thing, first] = [attributes[0], things[0], events[0]!];
  if (!attribute && !thing) return [message(id, first.name, first.data)];
  return [
    ...(attribute ? [message(id, "attribute", { ...ofCommit(attribute), attributes: valuesOf(attributes) })] : []),
    ...(thing ? [message(thingMessageId(id), "thing", { ...ofCommit(thing), things: things.map(thingOf) })] : []),
  ];
}

function ofCommit({ data: { deviceId, updateTime, cause } }: ClientEvent): object {
  return { deviceId, updateTime, cause };
}

function valuesOf(events: readonly ClientEvent[]): object {
  return Object.fromEntries(events.map(({ data }) => [data.name, data.value]));
}

function thingOf({ data: { thingId, what, fields } }: ClientEvent): object {
  return { thingId, what, fields };
}
