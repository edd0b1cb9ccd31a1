import type { CustomFetch } from "openid-client";
import { isBeyond, messageBounds } from "../../runtime/json/untrusted-json.ts";

/** A fetch whose answers the library may parse as a whole: an answer beyond `messageBounds` is a failed request. */
export const boundedFetch: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  const { status, statusText, headers } = response;
  const text = await readText(response);
  if (isBeyond(text, messageBounds)) throw tooLarge();
  // A body, even an empty one, is an error with these.
  return new Response([204, 205, 304].includes(status) ? null : text, { status, statusText, headers });
};

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // To leave the loop closes the connection.
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > messageBounds.bytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function tooLarge(): RangeError {
  return new RangeError("The OpenID provider's answer has too many bytes, levels or values.");
}
