import type { IncomingMessage } from "node:http";
import { largestMessageBytes } from "./parse-json.ts";

/** The whole body, or undefined when it broke off, took too long or grew too large. */
export async function readBody(response: IncomingMessage, signal: AbortSignal): Promise<string | undefined> {
  const abort = () => void response.destroy();
  signal.addEventListener("abort", abort, { once: true });
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    if (signal.aborted) return undefined;
    for await (const chunk of response) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > largestMessageBytes) return undefined;
    }
    return Buffer.concat(chunks).toString("utf8");
  } catch {
    return undefined;
  } finally {
    signal.removeEventListener("abort", abort);
    response.destroy();
  }
}
