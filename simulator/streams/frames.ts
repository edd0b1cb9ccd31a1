import type { Json } from "../home/json.ts";

/** One event of a stream. Serialised JSON has no line breaks, so the data is a single line. */
export function frame(event: string, data: Json): Buffer {
  return frameOf(event, JSON.stringify(data));
}

export function frameOf(event: string, text: string): Buffer {
  return Buffer.from(`event: ${event}\ndata: ${text}\n\n`);
}

/** The data of a put: the whole element at the path; null if the path no longer exists. */
export function putText(path: string, data: Json | undefined): string {
  return JSON.stringify({ path, data: data ?? null });
}

export const openFrame = frame("open", null);
export const keepAliveFrame = frame("keep-alive", null);
export const cancelFrame = frame("cancel", null);
