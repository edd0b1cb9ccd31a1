import { NotFound } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { Principal } from "./principal.ts";

export interface UserRecord {
  readonly userId: UserId;
  readonly userName: string;
  readonly tenantName: string;
  readonly createdMs: number;
}

/** Reads users within the caller's access scope. Foreign and absent users give the same error. */
export interface UserReading {
  /** For a user, their own id; for an enterprise client, the ids of all users of its tenant, ascending. */
  usersOf(caller: Principal): Promise<readonly UserId[]>;
  userOf(caller: Principal, userId: UserId): Promise<UserRecord>;
}

export function userReadingOn(store: Store<Pick<Transaction, "tenants" | "users">>): UserReading {
  return {
    usersOf: (caller) => store.read((tx) => tx.users.idsWithin(caller)),
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
