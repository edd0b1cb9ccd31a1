import type { TenantId, UserId } from "../src/model/ids.ts";
import type { Transaction } from "../src/store/seam.ts";

/** Adds users with a dummy password hash, because thousands of argon2 runs would take too long. They cannot sign in. */
export async function addUsers(
  tx: Pick<Transaction, "users">,
  tenantId: TenantId,
  count: number,
): Promise<readonly UserId[]> {
  const ids: UserId[] = [];
  for (let i = 1; i <= count; i++) {
    const user = { tenantId, name: `user${i}`, passwordHash: "no valid hash", isAdmin: false };
    ids.push((await tx.users.add(user))!);
  }
  return ids;
}
