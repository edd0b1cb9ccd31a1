import type { OwnerId } from "../../model/ids.ts";

/** By what a credential is found: whose it is, as it tells itself, and its SHA-256. */
export interface CredentialKey {
  /** 0 when it doesn't tell: it is from before they did, or no credential at all. */
  readonly ownerId: OwnerId;
  readonly hash: string;
}

/** The row of the credential whose key is `$1` and `$2`, in a table with that column for whose it is. */
export function isOfKey(owner: string, hash = "hash"): string {
  return `${owner} = COALESCE(NULLIF($1, 0), (SELECT f.owner_id FROM former_credentials f WHERE f.hash = $2))
    AND ${hash} = $2`;
}
