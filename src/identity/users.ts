import { Conflict, NotFound } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import { checkNewName, readName } from "./names.ts";
import type { Passwords } from "./passwords.ts";
import type { Tenants } from "./tenants.ts";

export interface NewUser {
  /** The tenant's name or id. */
  readonly tenant: string;
  readonly name: string;
  readonly password: string;
  /** Administrators may give an enterprise client access to the whole tenant. */
  readonly isAdmin: boolean;
}

export interface Users {
  addUser(user: NewUser): Promise<UserId>;
  /** Ends every secToken of the user: a new password is often the answer to a stolen one. */
  setPassword(userId: UserId, password: string): Promise<void>;
}

export function usersOn(
  store: Store<Pick<Transaction, "users" | "secTokens">>,
  tenants: Tenants,
  passwords: Passwords,
): Users {
  return {
    async addUser({ tenant, name: given, password, isAdmin }) {
      const name = checkNewName("name", readName("name", given));
      const { tenantId, name: tenantName } = await tenants.findTenant(tenant);
      const passwordHash = await passwords.hash(password);
      const userId = await store.transaction((tx) => tx.users.add({ tenantId, name, passwordHash, isAdmin }));
      if (userId === undefined) throw new Conflict(`The tenant ${tenantName} has a user ${name} already.`);
      return userId;
    },
    async setPassword(userId, password) {
      const passwordHash = await passwords.hash(password);
      await store.transaction(async (tx) => {
        if ((await tx.users.lock(userId)) === undefined) throw new NotFound(`User ${userId} does not exist.`);
        await tx.users.setPasswordHash(userId, passwordHash);
        await tx.secTokens.removeOfUser(userId);
      });
    },
  };
}
