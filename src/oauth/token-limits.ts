import { endGrants, grantsAtOnce } from "../identity/grants.ts";
import { ownerIdOf, type UserId } from "../model/ids.ts";
import { limits, type OnLimitReached } from "../model/limits.ts";
import type { Transaction } from "../store/seam.ts";
import type { GrantRow } from "../store/tables/grants.ts";
import type { Client } from "./clients.ts";

type LimitTables = Pick<Transaction, "grants" | "accessTokens" | "refreshTokens" | "log" | "clock">;

/**
 * Replaced refresh tokens that one grant keeps to detect their reuse. A client that refreshes each hour has 720 in the 30
 * days after which they are removed. Of a grant with more than `most`, the newest stay, since a client may still send
 * them, and the oldest of each age class. The classes begin at 1 minute, 2 minutes, 4 minutes and so on.
 *
 * A thief refreshes with the client's last token, so all tokens of the thief are newer than it. Therefore the thief can't
 * displace it from its class, however often they refresh. Only the client's own older tokens can, when the class has
 * `ofEachAge` of them: the reuse is noticed if the client comes back within 50 of its usual intervals.
 */
const keptReplaced = {
  most: 1_000,
  newest: 100,
  ofEachAge: 50,
  agesMs: Array.from({ length: 16 }, (_, place) => 60_000 * 2 ** place),
};

export interface TokenLimits {
  /**
   * Before a user gives a client another grant: ends the grants of that user to it that were not used for the longest
   * time. Returns their ids. The caller holds the user's lock.
   */
  ofUser(tx: LimitTables, userId: UserId, clientId: string): Promise<readonly string[]>;
  /** Against a client that refreshes in a loop: removes tokens of the grant. `newHash` is of its next token. */
  ofGrant(tx: LimitTables, grant: GrantRow, newHash: string): Promise<void>;
  /** Against a client that uses client_credentials in a loop: ends its oldest grants. Returns their ids. */
  ofClient(tx: LimitTables, client: Client): Promise<readonly string[]>;
}

export function tokenLimits(onLimitReached: OnLimitReached = () => undefined): TokenLimits {
  return {
    async ofUser(tx, userId, clientId) {
      const excess = (await tx.grants.countOfUserToClient(userId, clientId)) + 1 - limits.grantsPerUserAndClient;
      if (excess <= 0) return [];
      onLimitReached("grantsPerUserAndClient");
      const oldest = await tx.grants.ofUserToClient(userId, clientId, Math.min(excess, grantsAtOnce));
      return endGrants(tx, oldest);
    },
    async ofGrant(tx, grant, newHash) {
      // Sampling: hashes are random, so one refresh in 16 counts the tokens. A grant may exceed the limit by a few.
      if (!"ABCD".includes(newHash.charAt(0))) return;
      const ownerId = ownerIdOf(grant);
      const removed =
        (await tx.refreshTokens.keepNewest(ownerId, grant.id, limits.tokensPerGrant)) +
        (await tx.accessTokens.keepNewest(ownerId, grant.id, limits.tokensPerGrant));
      if (removed > 0) onLimitReached("tokensPerGrant");
      await tx.refreshTokens.keepReplaced(ownerId, grant.id, keptReplaced);
    },
    async ofClient(tx, { tenantId, id }) {
      if ((await tx.grants.countOwn(tenantId, id)) < limits.tokensPerClient) return [];
      onLimitReached("tokensPerClient");
      // A part at once, so that not every further token has to end one.
      return endGrants(tx, await tx.grants.oldestOwn(tenantId, id, grantsAtOnce));
    },
  };
}
