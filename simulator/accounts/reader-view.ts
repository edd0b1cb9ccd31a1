import { visiblePart } from "../clients/permissions.ts";
import { elementAt } from "../home/element.ts";
import { isJsonObject, type Json } from "../home/json.ts";
import type { Grant } from "./grants.ts";

/**
 * What the holder of a token sees at a path of the account document: as much as its client is allowed, and with which
 * token it was read. Undefined when there is nothing at the path.
 */
export function viewFor(grant: Grant, segments: readonly string[]): Json | undefined {
  const document = visiblePart(grant.permissions, grant.account.document);
  const touchesMetadata = segments.length === 0 || segments[0] === "metadata";
  const { metadata } = document;
  if (!touchesMetadata || !isJsonObject(metadata)) return elementAt(document, segments);
  return elementAt({ ...document, metadata: { ...metadata, access_token: grant.token } }, segments);
}
