import { visiblePart } from "../clients/permissions.ts";
import { elementAt } from "../home/element.ts";
import { isJsonObject, type Json } from "../home/json.ts";
import type { Grant } from "./grants.ts";

/**
 * The element at a path of the account document as the client may see it, with the client's token in the metadata.
 * Undefined if the path does not exist.
 */
export function viewFor(grant: Grant, segments: readonly string[]): Json | undefined {
  const document = visiblePart(grant.permissions, grant.account.document);
  const includesMetadata = segments.length === 0 || segments[0] === "metadata";
  const { metadata } = document;
  if (!includesMetadata || !isJsonObject(metadata)) return elementAt(document, segments);
  return elementAt({ ...document, metadata: { ...metadata, access_token: grant.token } }, segments);
}
