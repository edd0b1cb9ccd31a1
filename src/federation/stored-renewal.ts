import { linkEntry } from "../devices/log-entries.ts";
import type { Credential } from "../ecosystems/credential.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LinkRow } from "../store/tables/links.ts";
import { type OpenedCredential, openCredential, sealCredential, type TokenSealing } from "./credential.ts";
import type { LinkKey } from "./link-key.ts";

/** Time limit of one renewal. A renewal that began longer ago has ended, even if its node died. */
export const renewalLimitMs = 30_000;

type RenewalTables = Pick<Transaction, "users" | "links" | "log">;

export interface StoredRenewalParts {
  readonly store: Store<RenewalTables>;
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
 * Clears the mark of a renewal that the ecosystem refused. Its refresh token may have been used before, by a node that
 * was cut off from the store with the answer: that node can store it now.
 */
export function clearRefused({ store, link }: StoredRenewalParts, markMs: number): Promise<void> {
  const { userId, deviceId } = link;
  return store.transaction(async (tx) => {
    await tx.users.lock(userId);
    const row = await tx.links.ofDevice(userId, deviceId);
    if (row?.renewingMs === markMs) await tx.links.setRenewing(userId, deviceId, null);
  });
}

/**
 * Stores a renewed credential. The mark is the fencing token: the result is stored only while the link still has the
 * mark and the token from which this renewal began. So a node that lost the link during its call can still hand the
 * result over to the next owner, and a result never replaces a newer token. Returns undefined when it was discarded, and
 * `busy` while another node may be in a call with the same refresh token.
 */
export function storeRenewed(
  { store, link, sealing }: StoredRenewalParts,
  before: Credential,
  markMs: number,
  renewed: Credential,
): Promise<Credential | "busy" | undefined> {
  const { userId, deviceId } = link;
  return store.transaction(async (tx) => {
    const nowMs = await tx.users.lock(userId);
    const row = nowMs === undefined ? undefined : await tx.links.ofDevice(userId, deviceId);
    if (nowMs === undefined || !row) return undefined;
    const opened = openCredential(sealing.open, row);
    if (row.renewingMs !== markMs) {
      // The answer to an earlier COMMIT of this result was lost.
      if (opened.isRenewable && isSame(opened, renewed)) return opened.credential;
      // On SQLite there is no other node: a relink has cleared the mark.
      if (!store.isShared || !opened.isRenewable || !isSame(opened, before)) return undefined;
      if (row.renewingMs !== null && isInCall(row.renewingMs, nowMs)) return "busy";
    }
    if (opened.credential.accessToken !== before.accessToken) return undefined;
    const credential = { ...renewed, issuedMs: nowMs };
    const { sealedToken, sealedCredential } = sealCredential(sealing.seal, row, credential);
    await tx.links.setToken(userId, deviceId, sealedToken, sealedCredential);
    if (row.renewingMs !== markMs) await followAgain(tx, row, nowMs);
    return credential;
  });
}

/**
 * The owner was refused with the old refresh token, or ended its call without an answer. The link is followed again, with
 * the next epoch: in the present one the owner has recorded that the link needs a new consent, or is about to.
 */
async function followAgain(tx: RenewalTables, row: LinkRow, nowMs: number): Promise<void> {
  const { userId, deviceId, owner } = row;
  if (row.state === "needs_reauth") {
    const reason = "its token was renewed after all";
    const blindness = row.blindness ?? { sinceMs: row.confirmedMs, cause: reason };
    await tx.links.setState(userId, deviceId, { state: "waiting", reason, blindness });
    await tx.log.append(linkEntry(userId, deviceId, nowMs, { ...row, state: "waiting", reason }));
  }
  // A link without an owner gets its next epoch when a node claims it.
  if (owner !== null) await tx.links.takeOver(userId, deviceId, owner);
}

/** Whether a renewal that began then may be in progress. Its node may have died after the ecosystem's answer. */
function isInCall(markMs: number, nowMs: number): boolean {
  return nowMs >= markMs && nowMs - markMs < renewalLimitMs;
}

/** A token without a credential is the same as any credential with that token: the credential may have been removed. */
function isSame({ credential, isRenewable }: OpenedCredential, other: Credential): boolean {
  if (credential.accessToken !== other.accessToken) return false;
  return !isRenewable || credential.refreshToken === other.refreshToken;
}
