import type { ClientEvent } from "./client-events.ts";
import { type ResumePoint, writeEventId } from "./event-id.ts";

/** Why a client has to read its devices again: events before this one are missing. */
export type ResyncReason = "past_retention" | "unknown_id" | "too_slow" | "restored";

/** After this time a disconnected client reconnects. */
const retryMs = 1_000;

/** An event in the format of Server-Sent Events. JSON contains no line breaks. */
export function eventFrame({ id, name, data }: ClientEvent): string {
  return frame(id, name, data);
}

/** Keeps the connection alive, and gives a quiet client an id to resume from. */
export function heartbeatFrame(resumePoint: ResumePoint, nowMs: number, everySeconds?: number): string {
  return frame(writeEventId(resumePoint), "heartbeat", { time: nowMs, everySeconds });
}

/**
 * Keeps the connection of a stream alive that still sends old events, and gives its client an id to resume from. The
 * time is that of the entry which the stream has reached: the client is not current before a heartbeat without
 * `catchingUp`.
 */
export function catchingUpFrame(resumePoint: ResumePoint, reachedMs: number, everySeconds?: number): string {
  return frame(writeEventId(resumePoint), "heartbeat", { time: reachedMs, everySeconds, catchingUp: true });
}

export function resyncFrame(resumePoint: ResumePoint, reason: ResyncReason): string {
  return frame(writeEventId(resumePoint), "resync", { reason });
}

/**
 * The first line of a stream. No blank line follows, so it belongs to the block of the first event: some clients
 * dispatch an empty message for a block without data.
 */
export const openingFrame = `retry: ${retryMs}\n`;

/** Sent instead of a heartbeat while the store does not answer. A comment needs no block of its own. */
export const waitingFrame = ": the store does not answer\n";

/** A comment for people who read the raw stream; clients skip comments. */
export function tooManyStreamsFrame(atMost: number): string {
  return `: there are more than ${atMost} streams of the same caller, and this one is the oldest\n`;
}

function frame(id: string, name: string, data: object): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
