import type { ClientEvent } from "./client-events.ts";
import { type EventPlace, writeEventId } from "./event-id.ts";

/** Why a reader has to read its devices anew: not all that happened before this event was told. */
export type ResyncReason = "past_retention" | "unknown_id" | "too_slow" | "restored";

/** How soon a client that lost its connection comes back. */
const retryMs = 1_000;

/** An event as it goes over the wire (Server-Sent Events). JSON has no line breaks of its own. */
export function eventFrame({ id, name, data }: ClientEvent): string {
  return frame(id, name, data);
}

/** Keeps the connection alive, and tells a quiet client from where it could go on. */
export function heartbeatFrame(place: EventPlace, nowMs: number, everySeconds?: number): string {
  return frame(writeEventId(place), "heartbeat", { time: nowMs, everySeconds });
}

export function resyncFrame(place: EventPlace, reason: ResyncReason): string {
  return frame(writeEventId(place), "resync", { reason });
}

export const openingFrame = `retry: ${retryMs}\n\n`;

/** The connection is fine, the store isn't: a heartbeat would claim too much. */
export const waitingFrame = ": the store does not answer\n\n";

/** To whoever looks at the bytes: clients pass over it. */
export function crowdedFrame(atMost: number): string {
  return `: this client has more than ${atMost} streams open for the same user, and this one is the oldest\n\n`;
}

function frame(id: string, name: string, data: object): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
