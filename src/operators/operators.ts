import type { Audit } from "../identity/audit.ts";
import type { FailureLimits } from "../identity/failure-limits.ts";
import type { Passwords } from "../identity/passwords.ts";
import type { OnLimitReached } from "../model/limits.ts";
import type { Store } from "../store/seam.ts";
import { type DisplayNames, displayNamesOn } from "./names.ts";
import { type OneTimeLinks, oneTimeLinksOn } from "./one-time-links.ts";
import { type Roster, rosterOn } from "./roster.ts";
import { type Sessions, sessionLifetime, sessionsOn } from "./sessions.ts";
import { operatorSignInOn, type SignIns } from "./sign-in.ts";
import type { OperatorTables } from "./tables.ts";
import { type Tokens, tokensOn } from "./tokens.ts";

/** The people who run the service: who they are, how they come in, and what they may do. */
export interface Operators extends Roster, Sessions, Tokens, OneTimeLinks, SignIns, DisplayNames {
  /** Removes expired sessions, tokens and links; returns how many. */
  sweep(): Promise<number>;
}

export interface OperatorParts {
  readonly store: Store<OperatorTables>;
  readonly passwords: Passwords;
  readonly failureLimits: FailureLimits;
  readonly audit: Pick<Audit, "record">;
  readonly onLimitReached?: OnLimitReached;
}

export function operatorsOn({ onLimitReached = () => undefined, ...parts }: OperatorParts): Operators {
  const { store } = parts;
  return {
    ...rosterOn(store),
    ...sessionsOn(store),
    ...tokensOn(store),
    ...oneTimeLinksOn({ ...parts, onLimitReached }),
    ...operatorSignInOn({ ...parts, onLimitReached }),
    ...displayNamesOn(store),
    sweep: () =>
      store.transaction(async (tx) => {
        const nowMs = await tx.clock.nowMs();
        const sessions = await tx.operatorSessions.removeExpired(nowMs, nowMs - sessionLifetime.idleMs);
        const tokens = await tx.operatorTokens.removeExpired(nowMs);
        return sessions + tokens + (await tx.operatorLinks.removeExpired(nowMs));
      }),
  };
}
