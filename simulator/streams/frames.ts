import type { Json } from "../home/json.ts";

/** One event of a stream. JSON text holds no line breaks, so its data is always a single line. */
export function frame(event: string, data: Json): Buffer {
  return Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** The whole of what stands at the path; null when nothing stands there any more. */
export function putFrame(path: string, data: Json | undefined): Buffer {
  return frame("put", { path, data: data ?? null });
}

export const keepAliveFrame = frame("keep-alive", null);
