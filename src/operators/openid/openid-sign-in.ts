import { auditEntry } from "../../identity/audit.ts";
import { BadParameter, Conflict, LimitReached } from "../../model/errors.ts";
import type { OperatorId, TenantId } from "../../model/ids.ts";
import type { OnLimitReached } from "../../model/limits.ts";
import type { Sealer } from "../../store/keys/sealing.ts";
import type { OperatorRow } from "../../store/tables/operators.ts";
import { checkReach } from "../reach.ts";
import { addOperator, checkOperatorName } from "../roster.ts";
import { confirmSession, openSession, type SessionOrigin } from "../sessions.ts";
import type { OperatorTables } from "../tables.ts";
import { OpenIdRefused } from "./openid-errors.ts";
import type { Checks, Claims, OpenIdProvider } from "./provider.ts";
import { type RefusalParts, refusalsOn } from "./refused-sign-ins.ts";
import { type RoleRule, ruleFor } from "./role-rules.ts";

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
   * The operator of these claims. A person who is new gets a row; role and tenants follow the claims. With the role of an
   * owner their waiting invitations end, as after a change of the role by hand (roster.ts).
   */
  async function operatorFor(
    tx: OperatorTables,
    claims: Claims,
  ): Promise<OperatorRow & { readonly invitationsEnded: number }> {
    const rule = ruleFor(rules, claims);
    if (!rule) throw new OpenIdRefused(`${label} knows you, but no rule makes you an operator of this Breezeway.`);
    const reach = checkReach({ role: rule.role, tenantIds: await tenantsOf(tx, rule) });
    const subject = `${claims.iss} ${claims.sub}`;
    const found = await tx.operators.bySubject(subject);
    if (!found) {
      const name = await freeName(tx, claims);
      const added = await addOperator(tx, { ...reach, name, passwordHash: null, oidcSubject: subject });
      return { ...added, invitationsEnded: 0 };
    }
    // The lock serialises this with a suspension, which ends all sessions.
    const known = await tx.operators.lock(found.id);
    if (!known) throw new OpenIdRefused(`The operator ${found.name} was removed at this moment. Sign in again.`);
    if (known.isSuspended) throw new OpenIdRefused(`The operator ${known.name} is suspended.`);
    await tx.operators.setReach(known.id, reach);
    const endsInvitations = known.role === "owner" && reach.role !== "owner";
    const invitationsEnded = endsInvitations ? await tx.operatorLinks.removeOfKind("invitation") : 0;
    return { ...known, ...reach, invitationsEnded };
  }

  async function tenantsOf(tx: OperatorTables, { tenants }: RoleRule): Promise<readonly TenantId[]> {
    const all = tenants.length === 0 ? [] : await tx.tenants.list();
    const found: TenantId[] = [];
    for (const wanted of tenants) {
      const listed = all.find(({ id, name }) => name === wanted || String(id) === wanted);
      // Held until the reach is stored: a later tenant can have the id of one that is removed at this moment.
      const tenant = listed && (await tx.tenants.hold(listed.id));
      if (!tenant) throw new OpenIdRefused(`The rule for your role names the tenant ${wanted}, which does not exist.`);
      found.push(tenant.id);
    }
    return found;
  }

  async function enter(claims: Claims, { confirms, to }: SealedWish, origin: SessionOrigin): Promise<Finished> {
    return store.transaction(async (tx) => {
      const operator = await operatorFor(tx, claims);
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
    async finish({ query, cookie, ...origin }) {
      const wish = await opened(cookie);
      const claims = await provider.claims(`${redirectUri()}${query}`, wish.checks);
      try {
        return await enter(claims, wish, origin);
      } catch (error) {
        // A limit, or a rule that fits no role: the person reads why.
        const isReadable = error instanceof BadParameter || error instanceof Conflict || error instanceof LimitReached;
        const shown = isReadable ? new OpenIdRefused(error.message, error) : error;
        if (shown instanceof OpenIdRefused) await recordRefusal(claims, origin.source, shown.message);
        throw shown;
      }
    },
  };
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
