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

/**
 * The first line of a stream. No blank line follows, so it belongs to the block of the first event: some clients
 * dispatch an empty message for a block without data.
 */
export const openingFrame = `retry: ${retryMs}\n`;

/** The connection is fine, the store isn't: a heartbeat would claim too much. A comment needs no block of its own. */
export const waitingFrame = ": the store does not answer\n";

/** For a person who reads the bytes: clients skip comments. */
export function crowdedFrame(atMost: number): string {
  return `: this client has more than ${atMost} streams open for the same user, and this one is the oldest\n`;
}

function frame(id: string, name: string, data: object): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
