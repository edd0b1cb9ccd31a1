import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { CustomFetch } from "openid-client";
import { isBeyond, messageBounds } from "../../runtime/json/untrusted-json.ts";
import { type Outgoing, send } from "../../runtime/network/request.ts";

/**
 * A fetch whose answers the library may parse as a whole: an answer beyond `messageBounds` is a failed request, and so is
 * one after interim answers without end.
 */
export const boundedFetch: CustomFetch = async (url, { method, headers, body, signal }) => {
  const outgoing: Outgoing = {
    method: method as Outgoing["method"],
    headers,
    // The library sends forms only.
    ...(body && { body: String(body) }),
  };
  const answer = await send(new URL(url), outgoing, signal ?? new AbortController().signal);
  const { statusCode: status = 0, statusMessage: statusText = "" } = answer;
  const text = await readText(answer);
  if (isBeyond(text, messageBounds)) throw tooLarge();
  // A body, even an empty one, is an error with these.
  return new Response([204, 205, 304].includes(status) ? null : text, {
    status,
    statusText,
    headers: headersOf(answer.headers),
  });
};

function headersOf(received: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) if (value !== undefined) headers.set(name, String(value));
  return headers;
}

async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  // To leave the loop closes the connection.
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > messageBounds.bytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function tooLarge(): RangeError {
  return new RangeError("The OpenID provider's answer has too many bytes, levels or values.");
}
