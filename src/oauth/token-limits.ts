import { endGrants } from "../identity/grants.ts";
import { ownerIdOf } from "../model/ids.ts";
import { limits, type OnLimitReached } from "../model/limits.ts";
import type { Transaction } from "../store/seam.ts";
import type { GrantRow } from "../store/tables/grants.ts";
import type { Client } from "./clients.ts";

type LimitTables = Pick<Transaction, "grants" | "accessTokens" | "refreshTokens" | "log" | "clock">;

/** How many grants end together when a client has too many, so that not every further token has to end one. */
const grantsEndedAtOnce = 100;

export interface TokenLimits {
  /** Against a client that refreshes in a loop: removes the oldest tokens of the grant. */
  ofGrant(tx: LimitTables, grant: GrantRow, usedHash: string): Promise<void>;
  /**
   * Against a client that uses client_credentials in a loop: ends its oldest grants. Returns the ids of the ended grants,
   * and whether the next grant is audited: a loop must not fill the audit log.
   */
  ofClient(
    tx: LimitTables,
    client: Client,
  ): Promise<{ readonly ended: readonly string[]; readonly isAudited: boolean }>;
}

export function tokenLimits(onLimitReached: OnLimitReached = () => undefined): TokenLimits {
  return {
    async ofGrant(tx, grant, usedHash) {
      // Sampling: hashes are random, so one refresh in 16 counts the tokens. A grant may exceed the limit by a few.
      if (!"ABCD".includes(usedHash.charAt(0))) return;
      const ownerId = ownerIdOf(grant);
      const removed =
        (await tx.refreshTokens.keepNewest(ownerId, grant.id, limits.tokensPerGrant)) +
        (await tx.accessTokens.keepNewest(ownerId, grant.id, limits.tokensPerGrant));
      if (removed > 0) onLimitReached("tokensPerGrant");
    },
    async ofClient(tx, { tenantId, id }) {
      const count = await tx.grants.countOwn(tenantId, id);
      const isAudited = count < grantsEndedAtOnce || count % grantsEndedAtOnce === 0;
      if (count < limits.tokensPerClient) return { ended: [], isAudited };
      onLimitReached("tokensPerClient");
      return { ended: await endGrants(tx, await tx.grants.oldestOwn(tenantId, id, grantsEndedAtOnce)), isAudited };
    },
  };
}
