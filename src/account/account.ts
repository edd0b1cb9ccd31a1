import type { Federation } from "../federation/federation.ts";
import type { Identity } from "../identity/identity.ts";
import type { SignInAttempt } from "../identity/sign-in.ts";
import type { RemovalAudit } from "../identity/users.ts";
import { Conflict, InvalidLogin, NotFound, restOfChange } from "../model/errors.ts";
import type { OnLimitReached } from "../model/limits.ts";
import type { Store } from "../store/seam.ts";
import { type AccountApps, type AppParts, accountAppsOn } from "./apps.ts";
import { type Export, type ExportParts, exportWith } from "./export.ts";
import { type AccountHomes, accountHomesOn, type HomeParts } from "./homes.ts";
import {
  type AccountSessions,
  type AccountUser,
  accountSessionsOn,
  openSession,
  type SessionTables,
} from "./sessions.ts";

/** What people whose homes are linked see and do on their account page. Each act is audited as the user's own. */
export interface Account extends AccountSessions, AccountHomes, AccountApps {
  /** Rejects with InvalidLogin or TooManyRequests, as every sign-in. Returns the secret of the session's cookie. */
  signIn(attempt: AccountSignIn): Promise<string>;
  /** Throws TooManyRequests while another export of this user runs. */
  readonly exportOf: Export;
  /**
   * Removes the user with everything, as `breezeway user remove` does. The password is asked again: rejects with
   * InvalidLogin when it is wrong.
   */
  deleteAccount(user: AccountUser, attempt: Omit<AccountSignIn, "tenantId" | "name">): Promise<void>;
  /** Finishes removals of users that were interrupted, a few at most; returns how many. */
  finishRemovals(): Promise<number>;
}

export type AccountSignIn = Omit<SignInAttempt, "clientId" | "page">;

export interface AccountParts
  extends Omit<AppParts, "store">,
    Omit<HomeParts, "audit" | "federation">,
    Omit<ExportParts, "apps" | "homes" | "audit"> {
  readonly store: AppParts["store"] & Store<SessionTables>;
  readonly identity: Pick<Identity, "signIn" | "removeUser" | "takeAbandonedRemoval" | "audit">;
  readonly federation: HomeParts["federation"] & Pick<Federation, "unlinkAll">;
  readonly onLimitReached: OnLimitReached;
}

/** How often the removal is tried while a home is linked at the same moment. */
const removals = 3;
/** Removals that one run finishes. */
const finishedAtOnce = 10;

export function accountOn(parts: AccountParts): Account {
  const { store, identity, federation, onLimitReached } = parts;
  const sessions = accountSessionsOn(store);
  const homes = accountHomesOn({ ...parts, audit: identity.audit });
  const apps = accountAppsOn(parts);

  async function remove(user: Pick<AccountUser, "userId" | "tenantId">, source: string, did: string): Promise<void> {
    const entry = { act: "account", ...user, source } as const;
    const { userId } = user;
    let links = 0;
    for (let left = removals; ; left--) {
      links += (await restOfChange(links > 0, () => federation.unlinkAll(userId))).length;
      const audited: RemovalAudit = {
        begun: { ...entry, detail: { did, links, unfinished: true } },
        ended({ devices, grants }) {
          return { ...entry, detail: { did, links, devices: devices.length, grants: grants.length } };
        },
      };
      try {
        await restOfChange(links > 0, () => identity.removeUser(userId, audited));
        return;
      } catch (error) {
        // A second click was faster.
        if (error instanceof NotFound) return;
        if (!(error instanceof Conflict) || left === 1) throw error;
      }
    }
  }

  return {
    ...sessions,
    ...homes,
    ...apps,
    exportOf: exportWith({ ...parts, ...homes, ...apps, audit: identity.audit }),
    signIn: (attempt) =>
      identity.signIn({ ...attempt, page: "account" }, (tx, user) => openSession(tx, user.id, onLimitReached)),
    async deleteAccount(user, attempt) {
      const { tenantId, name, userId } = user;
      const again = { ...attempt, tenantId: String(tenantId), name, page: "account" } as const;
      const checkedId = await identity.signIn(again, async (_, { id }) => id);
      // The name belongs to another user now.
      if (checkedId !== userId) throw new InvalidLogin();
      await remove({ userId, tenantId }, attempt.source, "delete account");
    },
    async finishRemovals() {
      for (let finished = 0; finished < finishedAtOnce; finished++) {
        const user = await identity.takeAbandonedRemoval();
        if (!user) return finished;
        await remove(user, "service", "finish removal");
      }
      return finishedAtOnce;
    },
  };
}
