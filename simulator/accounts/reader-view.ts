import { elementAt } from "../home/element.ts";
import { isJsonObject, type Json, type JsonObject } from "../home/json.ts";

/**
 * What the holder of a token sees at a path of the account document: the document says which token it was read with.
 * Undefined when there is nothing at the path.
 */
export function viewFor(token: string, document: JsonObject, segments: readonly string[]): Json | undefined {
  const touchesMetadata = segments.length === 0 || segments[0] === "metadata";
  const { metadata } = document;
  if (!touchesMetadata || !isJsonObject(metadata)) return elementAt(document, segments);
  return elementAt({ ...document, metadata: { ...metadata, access_token: token } }, segments);
}
