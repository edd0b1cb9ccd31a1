import { endGrants } from "../identity/grants.ts";
import { NotFound } from "../model/errors.ts";
import { ownerIdOf, type TenantId, type UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";

/** A grant as an administrator sees it. */
export interface GrantRecord {
  readonly id: string;
  readonly tenantId: TenantId;
  /** Null for a grant that an enterprise client got with its own secret. */
  readonly userId: UserId | null;
  readonly clientId: string;
  readonly covers: "user" | "tenant";
  /** Null means everything. */
  readonly scope: string | null;
  readonly createdMs: number;
  /** To the hour; null when no use is known. */
  readonly usedMs: number | null;
}

export interface GrantQuestion {
  readonly of: { readonly clientId: string } | { readonly userId: UserId };
  /** Only this grant. */
  readonly id?: string | undefined;
  /** The grant before the first one; empty for the beginning. */
  readonly afterId: string;
  readonly limit: number;
}

export interface GrantAdministration {
  listGrants(question: GrantQuestion): Promise<readonly GrantRecord[]>;
  /** Ends one grant with all its tokens, on every node. */
  endGrant(grant: Pick<GrantRecord, "id" | "userId" | "tenantId">): Promise<void>;
}

export interface GrantParts {
  readonly store: Store<Pick<Transaction, "grants" | "log" | "clock">>;
  /** Called when the end is durable, so that this node's caches drop the grants. */
  readonly grantsEnded: (grantIds: readonly string[]) => void;
}

export function grantAdministrationOn({ store, grantsEnded }: GrantParts): GrantAdministration {
  return {
    listGrants: (question) => store.read((tx) => tx.grants.listed(question)),
    async endGrant({ id, userId, tenantId }) {
      const ended = await store.transaction(async (tx) => {
        const grant = await tx.grants.lock(ownerIdOf({ userId, tenantId }), id);
        return grant ? endGrants(tx, [grant]) : [];
      });
      if (ended.length === 0) throw new NotFound("There is no such grant.");
      grantsEnded(ended);
    },
  };
}
