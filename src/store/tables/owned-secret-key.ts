import type { OwnerId } from "../../model/ids.ts";

/** The key of a stored credential: its owner, as encoded in the credential, and its SHA-256. */
export interface OwnedSecretKey {
  /** 0 for a credential of an older version, which doesn't name its owner, and for text that is no credential. */
  readonly ownerId: OwnerId;
  readonly hash: string;
}

/** The SQL condition for the row with the key `$1` (owner) and `$2` (hash), in a table with these columns. */
export function isOfKey(owner: string, hash = "hash"): string {
  return `${owner} = COALESCE(NULLIF($1, 0), (SELECT f.owner_id FROM former_credentials f WHERE f.hash = $2))
    AND ${hash} = $2`;
}
