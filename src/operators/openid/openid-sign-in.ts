import { auditEntry } from "../../identity/audit.ts";
import { defaultFailureLimits } from "../../identity/failure-limits.ts";
import { hashOf } from "../../identity/secrets.ts";
import { sourceOf } from "../../identity/source.ts";
import { Conflict, LimitReached } from "../../model/errors.ts";
import type { OperatorId } from "../../model/ids.ts";
import type { OnLimitReached } from "../../model/limits.ts";
import type { Sealer } from "../../store/keys/sealing.ts";
import type { OperatorRow } from "../../store/tables/operators.ts";
import type { OperatorAccess } from "../operator.ts";
import { addOperator, checkOperatorName } from "../roster.ts";
import { confirmSession, openSession, type SessionOrigin } from "../sessions.ts";
import type { OperatorTables } from "../tables.ts";
import { claimedAccess } from "./claimed-access.ts";
import { OpenIdRefused, OpenIdUnavailable } from "./openid-errors.ts";
import type { Checks, Claims, OpenIdProvider } from "./provider.ts";
import { type RefusalParts, refusalsOn } from "./refused-sign-ins.ts";
import type { RoleRule } from "./role-rules.ts";

/** Signing in at an OpenID provider. The provider's claims decide the role, at each sign-in anew. */
export interface OpenIdSignIn {
  /** How people call the provider. */
  readonly label: string;
  /** Where the browser goes, and the value of the cookie with which it comes back. */
  begin(wish: Wish): Promise<{ readonly location: string; readonly cookie: string }>;
  /** Rejects with OpenIdRefused or OpenIdUnavailable. */
  finish(answer: ProviderAnswer): Promise<Finished>;
}

export interface Wish {
  /** The page of the console to show afterwards. */
  readonly to: string;
  /** The session that needs a fresh sign-in; without it a new one is opened. */
  readonly confirms?: { readonly sessionId: string; readonly operatorId: OperatorId } | undefined;
}

export interface ProviderAnswer extends SessionOrigin {
  /** The query with which the provider sent the browser back, with its "?". */
  readonly query: string;
  readonly cookie: string | undefined;
  readonly disconnected?: AbortSignal | undefined;
}

export interface Finished {
  readonly to: string;
  /** The secret of the new session; undefined when one was confirmed. */
  readonly session: string | undefined;
}

export interface OpenIdParts extends RefusalParts {
  readonly provider: OpenIdProvider;
  readonly rules: readonly RoleRule[];
  readonly sealer: Sealer;
  readonly redirectUri: () => string;
  readonly onLimitReached: OnLimitReached;
}

/** A person has this time for the provider's pages. */
export const openIdPatienceMs = 10 * 60_000;
/** To confirm a session, the person must have signed in at the provider within this time. */
const confirmMaxAgeSeconds = 60;
const sealingContext = "operator openid";

interface SealedWish extends Wish {
  readonly checks: Checks;
  readonly expiresMs: number;
}

/** The claims give no access. */
interface Withdrawn {
  readonly refused: OpenIdRefused;
  /** The operator was suspended, and the audit log has the entry of that. */
  readonly isAudited: boolean;
}

export function openIdSignInOn(parts: OpenIdParts): OpenIdSignIn {
  const { store, provider, rules, label, sealer, redirectUri, onLimitReached } = parts;
  const recordRefusal = refusalsOn(parts);

  /** The store's clock: another node may have begun the sign-in. */
  const storeMs = () => store.read((tx) => tx.clock.nowMs());

  async function opened(cookie: string | undefined): Promise<SealedWish> {
    const wish = cookie === undefined ? undefined : attempt(() => JSON.parse(sealer.open(cookie, sealingContext)));
    if (!wish || wish.expiresMs <= (await storeMs())) {
      throw new OpenIdRefused("This sign-in was begun in another browser, or more than 10 minutes ago.");
    }
    return wish;
  }

  /**
   * Marks the sign-in as used, whatever comes of it: no node finishes it again. The marks are failure counts, which are
   * swept after an hour, so later than the cookie expires. The marks of one source are limited like its failures.
   */
  async function useOnce({ checks }: SealedWish, address: string): Promise<void> {
    const { failuresPerSource, sourceWindowMs } = defaultFailureLimits;
    const [cookie, source] = [checks.state, sourceOf(address)].map((name) => hashOf(`${sealingContext} ${name}`));
    await store.transaction(async ({ failureCounts }) => {
      if ((await failureCounts.add(cookie!, {})) > 1) throw new OpenIdRefused("This sign-in was used already.");
      if ((await failureCounts.add(source!, { afterFirstMs: sourceWindowMs })) > failuresPerSource) {
        throw new OpenIdUnavailable("Too many sign-ins came from your address. Try again in 10 minutes.");
      }
    });
  }

  /**
   * The operator of these claims. A person who is new gets a row; role and tenants follow the claims. With the role of an
   * owner their waiting invitations end, as after a change of the role by hand (roster.ts).
   */
  async function operatorFor(
    tx: OperatorTables,
    claims: Claims,
    access: OperatorAccess,
  ): Promise<OperatorRow & { readonly invitationsEnded: number }> {
    const found = await tx.operators.bySubject(subjectOf(claims));
    if (!found) {
      const name = await freeName(tx, claims);
      const added = await addOperator(tx, { ...access, name, passwordHash: null, oidcSubject: subjectOf(claims) });
      return { ...added, invitationsEnded: 0 };
    }
    // The lock serialises this with a suspension, which ends all sessions.
    const known = await tx.operators.lock(found.id);
    if (!known) throw new OpenIdRefused(`The operator ${found.name} was removed at this moment. Sign in again.`);
    if (known.isSuspendedByClaims) await tx.operators.setSuspended(known.id, false);
    else if (known.isSuspended) throw new OpenIdRefused(`The operator ${known.name} is suspended.`);
    await tx.operators.setAccess(known.id, access);
    const endsInvitations = known.role === "owner" && access.role !== "owner";
    const invitationsEnded = endsInvitations ? await tx.operatorLinks.removeOfKind("invitation") : 0;
    return { ...known, ...access, invitationsEnded };
  }

  /**
   * Suspends an operator to whom the claims give no access any more: sessions, tokens and an owner's invitations end.
   * Returns whether it did. The entry is always added: `recordRefusal` leaves some out.
   */
  async function withdraw(tx: OperatorTables, claims: Claims, source: string, reason: string): Promise<boolean> {
    const found = await tx.operators.bySubject(subjectOf(claims));
    const known = found && (await tx.operators.lock(found.id));
    // A password is a way in that does not depend on the provider. The way back in for the last owner must stay.
    if (!known || known.isSuspended || known.passwordHash !== null) return false;
    await tx.operators.suspendByClaims(known.id);
    const sessionsEnded = await tx.operatorSessions.removeOfOperator(known.id);
    const tokensEnded = await tx.operatorTokens.removeOfOperator(known.id);
    const invitationsEnded = known.role === "owner" ? await tx.operatorLinks.removeOfKind("invitation") : 0;
    const detail = { by: label, reason, suspended: true, sessionsEnded, tokensEnded, invitationsEnded };
    await tx.audit.add(auditEntry({ act: "operator_sign_in_failed", operator: known.name, source, detail }));
    return true;
  }

  /** Returns a refusal of the claims instead of throwing it: an exception would roll back the suspension. */
  async function enter(claims: Claims, wish: SealedWish, origin: SessionOrigin): Promise<Finished | Withdrawn> {
    const { confirms, to } = wish;
    return store.transaction(async (tx) => {
      const access = await claimedAccess(tx, rules, claims, label);
      if (access instanceof OpenIdRefused) {
        return { refused: access, isAudited: await withdraw(tx, claims, origin.source, access.message) };
      }
      const operator = await operatorFor(tx, claims, access);
      const { id, name, invitationsEnded } = operator;
      const ended = invitationsEnded > 0 ? { invitationsEnded } : {};
      const signedInMs = (claims.auth_time ?? 0) * 1_000;
      if (confirms) {
        const isSame = confirms.operatorId === id;
        if (!isSame || !(await confirmSession(tx, confirms.sessionId, id))) {
          throw new OpenIdRefused("Another person signed in, or the session has ended.");
        }
        await tx.audit.add(
          auditEntry({ act: "operator_password", operator: name, source: origin.source, detail: ended }),
        );
        return { to, session: undefined };
      }
      const detail = { by: label, role: operator.role, ...ended };
      await tx.audit.add(auditEntry({ act: "operator_sign_in", operator: name, source: origin.source, detail }));
      return { to, session: await openSession(tx, id, origin, onLimitReached, signedInMs) };
    });
  }

  return {
    label,
    async begin(wish) {
      const checks = provider.newChecks(wish.confirms && confirmMaxAgeSeconds);
      const location = await provider.authorizeUrl(redirectUri(), checks);
      const sealed: SealedWish = { ...wish, checks, expiresMs: (await storeMs()) + openIdPatienceMs };
      return { location, cookie: sealer.seal(JSON.stringify(sealed), sealingContext) };
    },
    async finish({ query, cookie, disconnected, ...origin }) {
      const wish = await opened(cookie);
      await useOnce(wish, origin.source);
      const caller = { source: origin.source, disconnected };
      const claims = await provider.claims(`${redirectUri()}${query}`, wish.checks, caller);
      const refuse = async (refused: OpenIdRefused) => {
        await recordRefusal(claims, origin.source, refused.message);
        return refused;
      };
      const entered = await enter(claims, wish, origin).catch(async (error: unknown) => {
        if (error instanceof OpenIdRefused) throw await refuse(error);
        // The person reads which limit was reached.
        const isReadable = error instanceof Conflict || error instanceof LimitReached;
        throw isReadable ? await refuse(new OpenIdRefused(error.message, error)) : error;
      });
      if (!("refused" in entered)) return entered;
      throw entered.isAudited ? entered.refused : await refuse(entered.refused);
    },
  };
}

/** How the store names a person of the provider. */
function subjectOf({ iss, sub }: Claims): string {
  return `${iss} ${sub}`;
}

/** A name that no operator has: an operator with a password keeps theirs. */
async function freeName(tx: OperatorTables, claims: Claims): Promise<string> {
  const { email, email_verified: isVerified, preferred_username: login, name, sub } = claims;
  const candidates = [isVerified === false ? undefined : email, login, name, sub];
  const wanted = candidates.find(
    (one) => typeof one === "string" && attempt(() => checkOperatorName(one)) !== undefined,
  );
  const base = typeof wanted === "string" ? checkOperatorName(wanted) : "OpenID operator";
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base} (${number})`;
    if (!(await tx.operators.byName(name))) return name;
  }
}

function attempt<Result>(act: () => Result): Result | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
