import { setImmediate as nextTurn } from "node:timers/promises";
import { NotFound } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { Principal } from "./principal.ts";

export interface UserRecord {
  readonly userId: UserId;
  readonly userName: string;
  readonly tenantName: string;
  readonly createdMs: number;
}

export interface UserPage {
  readonly ids: readonly UserId[];
  /** The next page begins behind this id; undefined on the last page. */
  readonly nextAfterId: UserId | undefined;
}

/** Ids of one read. Other requests run between two reads: 100,000 ids at once would hold them up. */
const idsAtOnce = 2_000;

/** Reads users within the caller's access scope. Foreign and absent users give the same error. */
export interface UserReading {
  /** For a user, their own id; for an enterprise client, the next ids of its tenant's users, ascending. */
  usersOf(caller: Principal, afterId?: number): Promise<UserPage>;
  userOf(caller: Principal, userId: UserId): Promise<UserRecord>;
}

export function userReadingOn(store: Store<Pick<Transaction, "tenants" | "users">>): UserReading {
  return {
    async usersOf(caller, afterId = 0) {
      const ids: UserId[] = [];
      for (let from = afterId; ; ) {
        // One extra id shows whether more follow.
        const missing = limits.usersPerAnswer + 1 - ids.length;
        const some = await store.read((tx) => tx.users.idsWithin(caller, from, Math.min(idsAtOnce, missing)));
        ids.push(...some);
        if (ids.length > limits.usersPerAnswer) {
          const page = ids.slice(0, -1);
          return { ids: page, nextAfterId: page.at(-1) };
        }
        if (some.length < idsAtOnce) return { ids, nextAfterId: undefined };
        from = some.at(-1)!;
        await nextTurn();
      }
    },
    async userOf(caller, userId) {
      const found = await store.read(async (tx) => {
        const user = await tx.users.within(caller, userId);
        const tenant = user && (await tx.tenants.byId(user.tenantId));
        return user && tenant && { user, tenant };
      });
      if (!found) throw unknownUser();
      const { user, tenant } = found;
      return { userId: user.id, userName: user.name, tenantName: tenant.name, createdMs: user.createdMs };
    },
  };
}

/** The same error for foreign, absent and malformed ids. */
export function unknownUser(): NotFound {
  return new NotFound("User does not exist.");
}
