import { endGrants } from "../identity/grants.ts";
import { ownerIdOf } from "../model/ids.ts";
import { limits, type ReachLimit } from "../model/limits.ts";
import type { Transaction } from "../store/seam.ts";
import type { GrantRow } from "../store/tables/grants.ts";
import type { Client } from "./clients.ts";

type BoundTables = Pick<Transaction, "grants" | "accessTokens" | "refreshTokens" | "log" | "clock">;

/** Grants that end together when a client has too many: so that not every further token has to end one. */
const endedAtOnce = 100;

export interface TokenBounds {
  /** For a client that refreshes in a loop: the grant's oldest tokens leave. */
  ofGrant(tx: BoundTables, grant: GrantRow, usedHash: string): Promise<void>;
  /**
   * For a client that takes tokens with its own secret in a loop: its oldest grants end. Answers the grants that ended,
   * and whether the next one is to be written into the audit log, which is kept for a year.
   */
  ofClient(
    tx: BoundTables,
    client: Client,
  ): Promise<{ readonly ended: readonly string[]; readonly isWritten: boolean }>;
}

export function tokenBounds(reached: ReachLimit = () => undefined): TokenBounds {
  return {
    async ofGrant(tx, grant, usedHash) {
      // Hashes are random: one refresh in 16 pays for looking, and a grant has a few tokens more at most.
      if (!"ABCD".includes(usedHash.charAt(0))) return;
      const ownerId = ownerIdOf(grant);
      const left =
        (await tx.refreshTokens.keepNewest(ownerId, grant.id, limits.tokensPerGrant)) +
        (await tx.accessTokens.keepNewest(ownerId, grant.id, limits.tokensPerGrant));
      if (left > 0) reached("tokensPerGrant");
    },
    async ofClient(tx, { tenantId, id }) {
      const count = await tx.grants.countOwn(tenantId, id);
      const isWritten = count < endedAtOnce || count % endedAtOnce === 0;
      if (count < limits.tokensPerClient) return { ended: [], isWritten };
      reached("tokensPerClient");
      return { ended: await endGrants(tx, await tx.grants.oldestOwn(tenantId, id, endedAtOnce)), isWritten };
    },
  };
}
