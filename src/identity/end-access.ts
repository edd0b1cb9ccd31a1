import type { UserId } from "../model/ids.ts";
import type { Transaction } from "../store/seam.ts";
import { endGrants } from "./grants.ts";

export type AccessTables = Pick<
  Transaction,
  "secTokens" | "userSessions" | "signIns" | "linkSessions" | "codes" | "grants" | "log" | "clock"
>;

/**
 * Ends all access that a user has given: secTokens, sessions of the account page, sign-ins, also those on link pages,
 * codes and grants, also an administrator's grants for the whole tenant. Returns the ids of the ended grants. The order
 * matters: a sign-in becomes a code, and a code a grant. A concurrent request that turns one into the next locks the
 * first, so that its result is removed here too, or never created.
 */
export async function endAccess(tx: AccessTables, userId: UserId): Promise<readonly string[]> {
  await tx.secTokens.removeOfUser(userId);
  await tx.userSessions.removeOfUser(userId);
  await tx.signIns.removeOfUser(userId);
  await tx.linkSessions.signOut(userId);
  await tx.codes.removeOfUser(userId);
  return endGrants(tx, await tx.grants.ofUser(userId));
}
