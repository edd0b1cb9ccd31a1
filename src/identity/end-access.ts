import type { UserId } from "../model/ids.ts";
import type { Transaction } from "../store/seam.ts";
import { endGrants } from "./grants.ts";

export type AccessTables = Pick<Transaction, "secTokens" | "signIns" | "codes" | "grants" | "log" | "clock">;

/**
 * Ends all by which somebody could act for a user, or for the whole tenant by this user's word, and answers the grants
 * that ended. In the order in which one leads to the next (a sign-in to a code, a code to a grant): whoever is between
 * two of them holds the first, so that what comes of it is seen here, or doesn't come about.
 */
export async function endAccess(tx: AccessTables, userId: UserId): Promise<readonly string[]> {
  await tx.secTokens.removeOfUser(userId);
  await tx.signIns.removeOfUser(userId);
  await tx.codes.removeOfUser(userId);
  return endGrants(tx, await tx.grants.ofUser(userId));
}
