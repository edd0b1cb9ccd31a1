import type { TenantId, UserId } from "../src/model/ids.ts";
import type { Transaction } from "../src/store/seam.ts";

/** So many users. Their password hashes are ready-made: thousands of argon2 runs would outlast the measurement. */
export async function addUsers(
  tx: Pick<Transaction, "users">,
  tenantId: TenantId,
  count: number,
): Promise<readonly UserId[]> {
  const ids: UserId[] = [];
  for (let i = 1; i <= count; i++) {
    const user = { tenantId, name: `user${i}`, passwordHash: "nobody signs in", isAdmin: false };
    ids.push((await tx.users.add(user))!);
  }
  return ids;
}
