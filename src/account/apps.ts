import { auditEntry } from "../identity/audit.ts";
import { endGrants, endMostGrants, type GrantEnding } from "../identity/grants.ts";
import { restOfChange } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import { type Scopes, scopes, storedScopes } from "../model/scopes.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { AppGrantRow } from "../store/tables/grants.ts";
import type { AccountUser } from "./sessions.ts";

/** A client to which the user has given access, with all its grants taken together. */
export interface AccountApp {
  readonly clientId: string;
  readonly name: string;
  /** With "tenant" it may reach the data of all users of the tenant. */
  readonly covers: "user" | "tenant";
  /** Null means everything. */
  readonly scopes: Scopes;
  readonly sinceMs: number;
  /** To the hour; null when no use is known. */
  readonly usedMs: number | null;
}

export interface AccountApps {
  /** By name. Beyond the limit the list is not complete. */
  apps(user: AccountUser): Promise<{ readonly apps: readonly AccountApp[]; readonly isComplete: boolean }>;
  /** The company's own clients that reach all its users, by name. The user can't end their access. */
  companyApps(user: AccountUser): Promise<readonly AccountApp[]>;
  /** Ends all access of one app, with its streams, webhooks and reports. Returns whether it had any. */
  endAccess(user: AccountUser, clientId: string, source: string): Promise<boolean>;
}

type AppTables = Pick<Transaction, "users" | "codes" | "grants" | "audit" | "log" | "clock">;

export interface AppParts {
  readonly store: Store<AppTables>;
  /** Called when the end is durable, so that this node's caches drop the grants. */
  readonly grantsEnded: (grantIds: readonly string[]) => void;
}

export function accountAppsOn({ store, grantsEnded }: AppParts): AccountApps {
  return {
    async apps({ userId }) {
      const rows = await store.read((tx) => tx.grants.appsOf(userId, limits.appsPerAccount));
      const byClient = Map.groupBy(rows, ({ clientId }) => clientId);
      return { apps: [...byClient.values()].map(appOf), isComplete: rows.length < limits.appsPerAccount };
    },
    async companyApps({ tenantId }) {
      const rows = await store.read((tx) => tx.grants.appsOfTenant(tenantId, limits.appsPerAccount));
      return [...Map.groupBy(rows, ({ clientId }) => clientId).values()].map(appOf);
    },
    async endAccess({ userId, tenantId }, clientId, source) {
      const find: GrantEnding["find"] = (tx, limit) => tx.grants.ofUserToClient(userId, clientId, limit);
      const before = await endMostGrants({ store, find, grantsEnded });
      const endLast = async (tx: AppTables) => {
        // The lock serialises this with the exchange of a code, which would add a grant.
        await tx.users.lock(userId);
        const last = await tx.grants.ofUserToClient(userId, clientId);
        const grants = before.length + last.length;
        if (grants === 0) return [];
        await tx.codes.removeUnspent(userId, clientId);
        const detail = { did: "end access", grants };
        await tx.audit.add(auditEntry({ act: "account", tenantId, userId, clientId, source, detail }));
        return endGrants(tx, last);
      };
      const ended = await restOfChange(before.length > 0, () => store.transaction(endLast));
      grantsEnded(ended);
      return before.length + ended.length > 0;
    },
  };
}

function appOf(rows: readonly AppGrantRow[]): AccountApp {
  const { clientId, clientName: name } = rows[0]!;
  const uses = rows.map(({ usedMs }) => usedMs).filter((usedMs) => usedMs !== null);
  return {
    clientId,
    name,
    covers: rows.some(({ covers }) => covers === "tenant") ? "tenant" : "user",
    scopes: allOf(rows.map(({ scope }) => storedScopes(scope))),
    sinceMs: Math.min(...rows.map(({ createdMs }) => createdMs)),
    usedMs: uses.length === 0 ? null : Math.max(...uses),
  };
}

/** What several grants allow together. One without scopes allows everything but most commands (identity/principal.ts). */
export function allOf(granted: readonly Scopes[]): Scopes {
  if (granted.includes(null)) return granted.some((some) => some?.includes("devices:control")) ? scopes : null;
  return scopes.filter((scope) => granted.some((some) => some?.includes(scope)));
}
