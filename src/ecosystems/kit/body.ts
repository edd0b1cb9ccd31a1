import type { IncomingMessage } from "node:http";
import { handshakeBounds, parseUntrusted } from "../../runtime/json/untrusted-json.ts";
import type { UnfinishedMessages } from "./unfinished-messages.ts";

/** The whole body, or undefined when it broke off, took too long, has more bytes than the limit, or was dropped. */
export async function readBody(
  response: IncomingMessage,
  limitBytes: number,
  signal: AbortSignal,
  unfinished?: UnfinishedMessages,
): Promise<Buffer | undefined> {
  const abort = () => void response.destroy();
  signal.addEventListener("abort", abort, { once: true });
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    if (signal.aborted) return undefined;
    for await (const chunk of response) {
      length += chunk.length;
      if (length > limitBytes) return undefined;
      unfinished?.set(abort, length);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch {
    return undefined;
  } finally {
    unfinished?.set(abort, 0);
    signal.removeEventListener("abort", abort);
    response.destroy();
  }
}

/** The body of a handshake, a token endpoint's answer or a refusal as JSON; undefined when it can't be read. */
export async function readSmallJson(response: IncomingMessage, signal: AbortSignal): Promise<unknown> {
  const body = await readBody(response, handshakeBounds.bytes, signal);
  return body && parseUntrusted(String(body), handshakeBounds);
}
