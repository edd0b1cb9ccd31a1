import type { Credential } from "../ecosystems/credential.ts";
import type { Store, Transaction } from "../store/seam.ts";
import { type OpenedCredential, openCredential, sealCredential, type TokenSealing } from "./credential.ts";
import type { LinkKey } from "./link-key.ts";

/** Time limit of one renewal. A renewal that began longer ago has ended, even if its node died. */
export const renewalLimitMs = 30_000;

export interface StoredRenewalParts {
  readonly store: Store<Pick<Transaction, "users" | "links">>;
  readonly link: LinkKey;
  readonly sealing: TokenSealing;
}

/**
 * `begun`: this node may call the ecosystem. `replaced`: the store holds another credential, which must be used instead.
 * `busy`: another node began a renewal and may be in it for this time. `lost`: this node no longer owns the link.
 */
export type RenewalStart =
  | { readonly state: "begun"; readonly markMs: number }
  | { readonly state: "replaced"; readonly opened: OpenedCredential }
  | { readonly state: "busy"; readonly markMs: number; readonly forMs: number }
  | { readonly state: "lost" };

/**
 * Marks the beginning of a renewal, durably and before the ecosystem is called. Only the owner of the link's epoch may
 * begin. The mark keeps the next owner from renewing the same credential while a call of this node may be in progress.
 * `endedMarkMs`: the mark of a renewal that has ended: of this node's last one, or of one for which this node has waited.
 */
export function beginRenewal(
  { store, link, sealing }: StoredRenewalParts,
  current: Credential,
  endedMarkMs: number | undefined,
): Promise<RenewalStart> {
  const { userId, deviceId, ownership } = link;
  return store.transaction(async (tx) => {
    const nowMs = await tx.users.lock(userId);
    if (nowMs === undefined || !(await tx.links.holds(userId, deviceId, ownership))) return { state: "lost" };
    const row = await tx.links.ofDevice(userId, deviceId);
    if (!row) return { state: "lost" };
    const opened = openCredential(sealing.open, row);
    if (!isSame(opened, current)) return { state: "replaced", opened };
    const markMs = row.renewingMs;
    if (markMs !== null && markMs !== endedMarkMs) {
      const sinceMs = Math.max(0, nowMs - markMs);
      if (sinceMs < renewalLimitMs) return { state: "busy", markMs, forMs: renewalLimitMs - sinceMs };
    }
    await tx.links.setRenewing(userId, deviceId, nowMs);
    return { state: "begun", markMs: nowMs };
  });
}

/**
 * Stores a renewed credential. The mark is the fencing token: the result is stored only while the link still has the
 * mark and the token from which this renewal began. So a node that lost the link during its call can still hand the
 * result over to the next owner, and a result never replaces a newer token. Returns undefined when it was discarded.
 */
export function storeRenewed(
  { store, link, sealing }: StoredRenewalParts,
  before: Credential,
  markMs: number,
  renewed: Credential,
): Promise<Credential | undefined> {
  const { userId, deviceId } = link;
  return store.transaction(async (tx) => {
    const nowMs = await tx.users.lock(userId);
    const row = nowMs === undefined ? undefined : await tx.links.ofDevice(userId, deviceId);
    if (nowMs === undefined || !row) return undefined;
    const opened = openCredential(sealing.open, row);
    if (row.renewingMs !== markMs) {
      // The answer to an earlier COMMIT of this result was lost.
      return opened.isRenewable && isSame(opened, renewed) ? opened.credential : undefined;
    }
    if (opened.credential.accessToken !== before.accessToken) return undefined;
    const credential = { ...renewed, issuedMs: nowMs };
    const { sealedToken, sealedCredential } = sealCredential(sealing.seal, row, credential);
    await tx.links.setToken(userId, deviceId, sealedToken, sealedCredential);
    return credential;
  });
}

/** A token without a credential is the same as any credential with that token: the credential may have been removed. */
function isSame({ credential, isRenewable }: OpenedCredential, other: Credential): boolean {
  if (credential.accessToken !== other.accessToken) return false;
  return !isRenewable || credential.refreshToken === other.refreshToken;
}
