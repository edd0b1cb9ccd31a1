import type { Federation } from "../federation/federation.ts";
import type { Identity } from "../identity/identity.ts";
import type { SignInAttempt } from "../identity/sign-in.ts";
import type { RemovalAudit } from "../identity/users.ts";
import { Conflict, InvalidLogin, NotFound, OutcomeUnknown, restOfChange } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
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
   * InvalidLogin when it is wrong. `underway`: an earlier request deletes the account and has not finished.
   */
  deleteAccount(user: AccountUser, attempt: Omit<AccountSignIn, "tenantId" | "name">): Promise<"deleted" | "underway">;
  /** Finishes removals of users that were interrupted, a few at most; returns how many. */
  finishRemovals(): Promise<number>;
}

export type AccountSignIn = Omit<SignInAttempt, "clientId" | "page">;

export interface AccountParts
  extends Omit<AppParts, "store">,
    Omit<HomeParts, "audit" | "federation">,
    Omit<ExportParts, "apps" | "companyApps" | "homes" | "things" | "audit"> {
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
    const unfinished = (links: number) => ({ ...entry, detail: { did, links, unfinished: true } });
    const linkedDevices = async () => (await federation.shownLinksOf(userId)).map(({ deviceId }) => deviceId);
    const before = await linkedDevices();
    let links = 0;
    const removeOnce = async () => {
      links += (await restOfChange(links > 0, () => federation.unlinkAll(userId))).length;
      const audited: RemovalAudit = {
        begun: unfinished(links),
        ended({ devices, grants }) {
          return { ...entry, detail: { did, links, devices: devices.length, grants: grants.length } };
        },
      };
      await restOfChange(links > 0, () => identity.removeUser(userId, audited));
    };
    try {
      await unlessLinked(removeOnce);
    } catch (error) {
      // A second click was faster.
      if (error instanceof NotFound) return;
      // When the store has failed, this may fail too: then the entry counts only the links that are known to be gone.
      const left = await linkedDevices().catch(() => before);
      const gone = Math.max(links, before.filter((deviceId) => !left.includes(deviceId)).length);
      if (gone > 0 || error instanceof OutcomeUnknown) await identity.audit.record(unfinished(gone));
      throw error;
    }
  }

  /** How far another removal of the user is; undefined when there is none. */
  const removalState = (userId: UserId) =>
    store.read(async (tx) => {
      if (!(await tx.users.byId(userId))) return "deleted";
      return (await tx.users.isBeingRemoved(userId)) ? "underway" : undefined;
    });

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
      try {
        const checkedId = await identity.signIn(again, async (_, { id }) => id);
        // The name belongs to another user now.
        if (checkedId !== userId) throw new InvalidLogin();
      } catch (error) {
        // Another click may have deleted the account during the check of the password.
        const state = error instanceof InvalidLogin ? await removalState(userId) : undefined;
        if (!state) throw error;
        return state;
      }
      await remove({ userId, tenantId }, attempt.source, "delete account");
      return "deleted";
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

/** Tries again when a home was linked at the same moment. */
async function unlessLinked(act: () => Promise<void>, tries = removals): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Conflict) || tries === 1) throw error;
    await unlessLinked(act, tries - 1);
  }
}
