import type { IncomingMessage } from "node:http";
import { GrowingBytes } from "./growing-bytes.ts";
import { largestMessageBytes } from "./parse-json.ts";

/** The whole body, or undefined when it broke off, took too long or grew too large. */
export async function readBody(response: IncomingMessage, signal: AbortSignal): Promise<Buffer | undefined> {
  const abort = () => void response.destroy();
  signal.addEventListener("abort", abort, { once: true });
  const body = new GrowingBytes();
  try {
    if (signal.aborted) return undefined;
    for await (const chunk of response) {
      body.append(chunk);
      if (body.length > largestMessageBytes) return undefined;
    }
    return body.take();
  } catch {
    return undefined;
  } finally {
    signal.removeEventListener("abort", abort);
    response.destroy();
  }
}
