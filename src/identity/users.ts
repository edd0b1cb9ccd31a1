import { Conflict, NotFound, restOfChange } from "../model/errors.ts";
import type { DeviceId, TenantId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { ListedUserFilter, UserRow } from "../store/tables/users.ts";
import { type AuditEntry, auditEntry } from "./audit.ts";
import { endAccess } from "./end-access.ts";
import { type FailureLimits, signInAccount } from "./failure-limits.ts";
import { endMostGrants } from "./grants.ts";
import { checkNewName, readName } from "./names.ts";
import type { Passwords } from "./passwords.ts";
import {
  beginRemoval,
  isLarge,
  type RemovalTables,
  type Removed,
  type RemovedInSlices,
  removalLeaseMs,
  removeHome,
  removeInSlices,
} from "./removal.ts";
import { announceSuspension, type HeldTables, releaseOfUser, type Suspended } from "./suspension.ts";
import type { Tenants } from "./tenants.ts";

export interface User {
  readonly userId: UserId;
  readonly tenantId: TenantId;
  readonly name: string;
  readonly isAdmin: boolean;
  readonly createdMs: number;
  readonly isSuspended: boolean;
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
  /** The whole name. */
  readonly name?: string | undefined;
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
   * Refuses the user's sign-ins and tokens, ends their streams and holds the messages of their webhooks and assistants, on
   * every node. Nothing is deleted: `resumeUser` brings all of it back. The home itself goes on.
   */
  suspendUser(userId: UserId): Promise<User>;
  /** Throws Conflict when the removal of the user has begun: a part of their data is gone. */
  resumeUser(userId: UserId): Promise<User>;
  /** Forgets failed sign-ins with the user's name, so that the user may try again at once from any address. */
  unlockUser(userId: UserId): Promise<User>;
  /**
   * Removes a user with all their data. The caller removes the user's links first. Rejects with OutcomeUnknown when the
   * store fails after a part is gone.
   */
  removeUser(userId: UserId, audited?: RemovalAudit): Promise<Removed>;
  /**
   * Takes over a removal that was interrupted: the caller removes the user. Undefined when there is none. No other node
   * gets the same one as long as this one goes on.
   */
  takeAbandonedRemoval(): Promise<Pick<User, "userId" | "tenantId"> | undefined>;
}

/** Entries of the audit log for a removal. Each is stored in the transaction of what it tells. */
export interface RemovalAudit {
  /** When the removal takes several transactions: for the first, which suspends the user. */
  readonly begun?: AuditEntry;
  readonly ended?: (removed: Removed) => AuditEntry;
}

type UserTables = RemovalTables & HeldTables & Pick<Transaction, "audit">;

export interface UserParts {
  readonly store: Store<UserTables>;
  readonly tenants: Pick<Tenants, "findTenant">;
  readonly passwords: Passwords;
  /** Called when the removal is durable, so that caches of this node drop the grants and devices. */
  readonly grantsEnded: (grantIds: readonly string[]) => void;
  readonly devicesRemoved: (deviceIds: readonly DeviceId[]) => void;
  /** Called when a suspension is durable, so that caches of this node drop the tokens. */
  readonly suspended: (suspended: Suspended) => void;
  readonly limits: Pick<FailureLimits, "unlock">;
}

/** Ids that one read of a search looks through: a millisecond on SQLite. */
const idsSearched = 5_000;

export function usersOn(parts: UserParts): Users {
  const { store, tenants, passwords, grantsEnded, devicesRemoved, suspended, limits } = parts;
  const findUser = async (userId: UserId) => {
    const row = await store.read((tx) => tx.users.byId(userId));
    if (!row) throw unknownUser(userId);
    return fromRow(row);
  };
  /** Looks through a range of ids in each read, so that no read of SQLite takes long. */
  const searchByRange = async (filter: ListedUserFilter) => {
    const lastId = await store.read((tx) => tx.users.lastId());
    const rows: UserRow[] = [];
    for (let { afterId } = filter; afterId < lastId && rows.length < filter.limit; afterId += idsSearched) {
      const range = { ...filter, afterId, throughId: afterId + idsSearched, limit: filter.limit - rows.length };
      rows.push(...(await store.read((tx) => tx.users.listed(range))));
    }
    return rows;
  };
  const endMost = (userId: UserId) =>
    endMostGrants({ store, find: (tx, limit) => tx.grants.ofUser(userId, limit), grantsEnded });
  const withdraw = async (userId: UserId, begun: AuditEntry | undefined) => {
    const grants = await store.transaction(async (tx) => {
      await lockedUser(tx, userId);
      if (begun) await tx.audit.add(auditEntry(begun));
      return beginRemoval(tx, userId);
    });
    grantsEnded(grants);
    suspended({ userId });
    return grants;
  };
  return {
    async addUser({ tenant, name: newName, password, isAdmin }) {
      const name = checkNewName("name", readName("name", newName));
      const { tenantId, name: tenantName } = await tenants.findTenant(tenant);
      const passwordHash = await passwords.hash(password);
      const userId = await store.transaction((tx) => tx.users.add({ tenantId, name, passwordHash, isAdmin }));
      if (userId === undefined) throw new Conflict(`The tenant ${tenantName} has a user ${name} already.`);
      return userId;
    },

    findUser,

    listUsers: async (tenantId) => (await store.read((tx) => tx.users.list(tenantId))).map(fromRow),

    async searchUsers({ text, name, ...question }) {
      const wanted = text === undefined ? undefined : readName("filter", text);
      const exact = name === undefined ? undefined : readName("name", name);
      const filter = { ...question, text: wanted, name: exact };
      const hasIndex = wanted === undefined && (exact === undefined || question.tenantIds !== undefined);
      const rows = hasIndex ? await store.read((tx) => tx.users.listed(filter)) : await searchByRange(filter);
      return rows.map(fromRow);
    },

    async setPassword(userId, password, source = "command") {
      const passwordHash = await passwords.hash(password);
      const before = await endMost(userId);
      const change = async (tx: UserTables) => {
        const { tenantId } = await lockedUser(tx, userId);
        await tx.users.setPasswordHash(userId, passwordHash);
        const grants = await endAccess(tx, userId);
        await tx.audit.add(auditEntry({ act: "password_changed", tenantId, userId, source }));
        return grants;
      };
      const ended = await restOfChange(before.length > 0, () => store.transaction(change));
      grantsEnded(ended);
      return { grants: before.length + ended.length };
    },

    async suspendUser(userId) {
      const user = await store.transaction(async (tx) => {
        const row = await lockedUser(tx, userId);
        if (row.suspendedMs !== null) return fromRow(row);
        await tx.users.setSuspended(userId, await tx.clock.nowMs());
        await announceSuspension(tx, { userId });
        return { ...fromRow(row), isSuspended: true };
      });
      suspended({ userId });
      return user;
    },

    resumeUser: (userId) =>
      store.transaction(async (tx) => {
        const row = await lockedUser(tx, userId);
        if (await tx.users.isBeingRemoved(userId)) {
          throw new Conflict(`The removal of user ${userId} has begun, and a part of their data is gone.`);
        }
        await tx.users.setSuspended(userId, null);
        await releaseOfUser(tx, userId);
        return { ...fromRow(row), isSuspended: false };
      }),

    async unlockUser(userId) {
      const user = await findUser(userId);
      await limits.unlock(signInAccount(String(user.tenantId), user.name));
      return user;
    },

    async removeUser(userId, audited) {
      const isUserLarge = await store.read((tx) => isLarge(tx, userId));
      const before = [...(await endMost(userId))];
      let slices: RemovedInSlices = { devices: [], attributes: 0, commands: 0, alerts: 0, history: 0 };
      if (isUserLarge) {
        before.push(...(await restOfChange(before.length > 0, () => withdraw(userId, audited?.begun))));
        slices = await restOfChange(true, () => removeInSlices(store, userId));
      }
      const removeLast = async (tx: UserTables) => {
        await lockedUser(tx, userId);
        const home = await removeHome(tx, userId);
        const gone = {
          ...home,
          devices: [...slices.devices, ...home.devices],
          attributes: slices.attributes + home.attributes,
          commands: slices.commands + home.commands,
          alerts: slices.alerts + home.alerts,
          history: slices.history + home.history,
          grants: [...before, ...home.grants],
        };
        if (audited?.ended) await tx.audit.add(auditEntry(audited.ended(gone)));
        return gone;
      };
      const isBegun = isUserLarge || before.length > 0;
      const removed = await restOfChange(isBegun, () => store.transaction(removeLast));
      grantsEnded(removed.grants);
      devicesRemoved(removed.devices);
      return removed;
    },

    async takeAbandonedRemoval() {
      const leaseOf = async (tx: UserTables) => ({ nowMs: await tx.clock.nowMs(), leaseMs: removalLeaseMs });
      const waiting = await store.read(async (tx) => tx.users.abandonedRemovals(await leaseOf(tx), 1));
      if (waiting.length === 0) return undefined;
      return store.transaction(async (tx) => {
        const lease = await leaseOf(tx);
        const [user] = await tx.users.abandonedRemovals(lease, 1);
        if (!user || !(await tx.users.claimRemoval(user.id, lease))) return undefined;
        return { userId: user.id, tenantId: user.tenantId };
      });
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

function fromRow({ id, tenantId, name, isAdmin, createdMs, suspendedMs }: UserRow): User {
  return { userId: id, tenantId, name, isAdmin, createdMs, isSuspended: suspendedMs !== null };
}
