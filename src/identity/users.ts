import { Conflict, NotFound } from "../model/errors.ts";
import type { DeviceId, TenantId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { UserRow } from "../store/tables/users.ts";
import { type AuditEntry, auditEntry } from "./audit.ts";
import { endAccess } from "./end-access.ts";
import { checkNewName, readName } from "./names.ts";
import type { Passwords } from "./passwords.ts";
import { type RemovalTables, type Removed, removeHome } from "./removal.ts";
import type { Tenants } from "./tenants.ts";

export interface User {
  readonly userId: UserId;
  readonly tenantId: TenantId;
  readonly name: string;
  readonly isAdmin: boolean;
  readonly createdMs: number;
}

export interface NewUser {
  /** The tenant's name or id. */
  readonly tenant: string;
  readonly name: string;
  readonly password: string;
  /** Administrators may give an enterprise client access to the whole tenant. */
  readonly isAdmin: boolean;
}

export interface UserQuestion {
  /** Undefined: of all tenants. */
  readonly tenantIds?: readonly TenantId[] | undefined;
  /** Part of the name, or the id. */
  readonly text?: string | undefined;
  readonly afterId: number;
  readonly limit: number;
}

export interface Users {
  addUser(user: NewUser): Promise<UserId>;
  findUser(userId: UserId): Promise<User>;
  /** Of one tenant, or of all. */
  listUsers(tenantId?: TenantId): Promise<readonly User[]>;
  /** One page of users of some tenants, or of all. */
  searchUsers(question: UserQuestion): Promise<readonly User[]>;
  /**
   * Sets a password and ends all secTokens and grants of the user, since the old password may be stolen. `source` is the
   * caller's address for the audit log. Returns how many grants ended.
   */
  setPassword(userId: UserId, password: string, source?: string): Promise<{ readonly grants: number }>;
  /**
   * Removes a user with all their data. The caller removes the user's links first. `audited`: the entry of the audit log
   * for what was removed, stored in the same transaction.
   */
  removeUser(userId: UserId, audited?: (removed: Removed) => AuditEntry): Promise<Removed>;
}

export interface UserParts {
  readonly store: Store<RemovalTables & Pick<Transaction, "audit">>;
  readonly tenants: Pick<Tenants, "findTenant">;
  readonly passwords: Passwords;
  /** Called when the removal is durable, so that caches of this node drop the grants and devices. */
  readonly grantsEnded: (grantIds: readonly string[]) => void;
  readonly devicesRemoved: (deviceIds: readonly DeviceId[]) => void;
}

export function usersOn({ store, tenants, passwords, grantsEnded, devicesRemoved }: UserParts): Users {
  return {
    async addUser({ tenant, name: newName, password, isAdmin }) {
      const name = checkNewName("name", readName("name", newName));
      const { tenantId, name: tenantName } = await tenants.findTenant(tenant);
      const passwordHash = await passwords.hash(password);
      const userId = await store.transaction((tx) => tx.users.add({ tenantId, name, passwordHash, isAdmin }));
      if (userId === undefined) throw new Conflict(`The tenant ${tenantName} has a user ${name} already.`);
      return userId;
    },

    async findUser(userId) {
      const row = await store.read((tx) => tx.users.byId(userId));
      if (!row) throw unknownUser(userId);
      return fromRow(row);
    },

    listUsers: async (tenantId) => (await store.read((tx) => tx.users.list(tenantId))).map(fromRow),

    async searchUsers({ text, ...question }) {
      const wanted = text === undefined ? undefined : readName("filter", text);
      return (await store.read((tx) => tx.users.listed({ ...question, text: wanted }))).map(fromRow);
    },

    async setPassword(userId, password, source = "command") {
      const passwordHash = await passwords.hash(password);
      const ended = await store.transaction(async (tx) => {
        const { tenantId } = await lockedUser(tx, userId);
        await tx.users.setPasswordHash(userId, passwordHash);
        const grants = await endAccess(tx, userId);
        await tx.audit.add(auditEntry({ act: "password_changed", tenantId, userId, source }));
        return grants;
      });
      grantsEnded(ended);
      return { grants: ended.length };
    },

    async removeUser(userId, audited) {
      const removed = await store.transaction(async (tx) => {
        await lockedUser(tx, userId);
        const gone = await removeHome(tx, userId);
        if (audited) await tx.audit.add(auditEntry(audited(gone)));
        return gone;
      });
      grantsEnded(removed.grants);
      devicesRemoved(removed.devices);
      return removed;
    },
  };
}

async function lockedUser(tx: Pick<Transaction, "users">, userId: UserId): Promise<UserRow> {
  await tx.users.lock(userId);
  const row = await tx.users.byId(userId);
  if (!row) throw unknownUser(userId);
  return row;
}

function unknownUser(userId: UserId): NotFound {
  return new NotFound(`There is no user ${userId}. See all with: breezeway user list`);
}

function fromRow({ id, tenantId, name, isAdmin, createdMs }: UserRow): User {
  return { userId: id, tenantId, name, isAdmin, createdMs };
}
