import { auditEntry } from "../identity/audit.ts";
import { readName } from "../identity/names.ts";
import type { PasswordCaller, Passwords } from "../identity/passwords.ts";
import { hashOf, isOwnedSecret, newSecret } from "../identity/secrets.ts";
import { checkTenantName } from "../identity/tenants.ts";
import { Conflict, LimitReached, NotFound } from "../model/errors.ts";
import type { TenantId } from "../model/ids.ts";
import { limits, type OnLimitReached } from "../model/limits.ts";
import type { Store } from "../store/seam.ts";
import type { OperatorLinkRow } from "../store/tables/operator-links.ts";
import type { OperatorRow } from "../store/tables/operators.ts";
import type { OperatorAccess } from "./operator.ts";
import { accessOf, checkAccess, holdTenants, type WantedAccess } from "./operator-access.ts";
import { addOperator, checkOperatorName } from "./roster.ts";
import { openSession, type SessionOrigin } from "./sessions.ts";
import type { OperatorTables } from "./tables.ts";

/** A claim link is valid for 30 minutes, an invitation for 7 days. Both are for one use. */
export const linkLifetime = { claimMs: 30 * 60_000, invitationMs: 7 * 86_400_000 };

/** A link that has not been used, as its page shows it. */
export interface OpenLink extends OperatorAccess {
  readonly kind: OperatorLinkRow["kind"];
  readonly name: string | null;
  /** Whether the page asks for the name of the first tenant. */
  readonly needsTenant: boolean;
}

/** What a person types on the page of a link. */
export interface TakenLink extends SessionOrigin {
  readonly name: string;
  readonly password: string;
  /** The name of the first tenant. */
  readonly tenant: string;
  readonly disconnected?: AbortSignal | undefined;
}

/** An invitation that nobody has used, as lists show it. */
export interface WaitingInvitation extends OperatorAccess {
  /** Names the invitation; no secret. */
  readonly id: string;
  readonly name: string | null;
  readonly createdMs: number;
  readonly expiresMs: number;
}

export interface OneTimeLinks {
  /** Makes the link of the first owner, which is also the way back in. Earlier claim links end. Returns its secret. */
  claimLink(): Promise<string>;
  /** Makes a link with which another person becomes an operator. Returns its secret. */
  invite(invitation: WantedAccess & { readonly name?: string | undefined }): Promise<string>;
  /** The oldest first. */
  listInvitations(): Promise<readonly WaitingInvitation[]>;
  /** Ends the invitation with this id, or all for a person of this name. Rejects with NotFound if there is none. */
  endInvitations(nameOrId: string): Promise<readonly WaitingInvitation[]>;
  /** Rejects with NotFound when the link was used or has expired. */
  openLink(kind: OperatorLinkRow["kind"], secret: string): Promise<OpenLink>;
  /** Uses a link: its person becomes an operator and is signed in. Returns the secret of the session's cookie. */
  takeLink(kind: OperatorLinkRow["kind"], secret: string, taken: TakenLink): Promise<string>;
}

export interface LinkParts {
  readonly store: Store<OperatorTables>;
  readonly passwords: Pick<Passwords, "hash">;
  readonly onLimitReached: OnLimitReached;
}

const linkPrefix = "bwol_";
const endSome = "End some, or wait until they expire. See: breezeway operator invitations list";
const owner: OperatorAccess = { role: "owner", reachesAll: true, tenantIds: [] };

export function oneTimeLinksOn({ store, passwords, onLimitReached }: LinkParts): OneTimeLinks {
  async function add(
    tx: OperatorTables,
    link: OperatorAccess & Pick<OperatorLinkRow, "kind" | "name">,
  ): Promise<string> {
    const nowMs = await tx.clock.nowMs();
    const tenants = await holdTenants(tx, link.tenantIds);
    // Not before its tenants, also when the clock was set back: it is taken only if they are older than it.
    const createdMs = Math.max(nowMs, ...tenants.map((tenant) => tenant.createdMs));
    await tx.operatorLinks.removeExpired(nowMs);
    // There is one claim link at most, and it is the way back in: no number of invitations may prevent it.
    if (link.kind === "invitation" && (await tx.operatorLinks.count("invitation")) >= limits.operatorLinksWaiting) {
      throw new LimitReached("operatorLinksWaiting", `Too many invitations wait to be used. ${endSome}`);
    }
    const secret = newSecret(linkPrefix);
    const lifetimeMs = link.kind === "claim" ? linkLifetime.claimMs : linkLifetime.invitationMs;
    await tx.operatorLinks.add({ ...link, hash: hashOf(secret), createdMs, expiresMs: nowMs + lifetimeMs });
    return secret;
  }

  async function find(tx: OperatorTables, kind: OperatorLinkRow["kind"], secret: string): Promise<OperatorLinkRow> {
    const link = isOwnedSecret(linkPrefix, secret) ? await tx.operatorLinks.find(hashOf(secret)) : undefined;
    if (!link || link.kind !== kind || (await tx.clock.nowMs()) >= link.expiresMs) throw usedLink(kind);
    return link;
  }

  /** Invitations that can still be used. */
  async function waiting(tx: OperatorTables): Promise<readonly OperatorLinkRow[]> {
    const nowMs = await tx.clock.nowMs();
    return (await tx.operatorLinks.list("invitation")).filter(({ expiresMs }) => nowMs < expiresMs);
  }

  const needsTenant = async (tx: OperatorTables, { kind }: OperatorLinkRow) =>
    kind === "claim" && (await tx.tenants.list()).length === 0;

  return {
    claimLink: () =>
      store.transaction(async (tx) => {
        await tx.operatorLinks.removeOfKind("claim");
        return add(tx, { kind: "claim", name: null, ...owner });
      }),
    async invite({ name: wanted, ...access }) {
      const name = wanted === undefined ? null : checkOperatorName(wanted);
      const checked = checkAccess(access);
      return store.transaction(async (tx) => {
        if (name !== null && (await tx.operators.byName(name))) {
          throw new Conflict(`There is an operator ${name} already.`);
        }
        return add(tx, { kind: "invitation", name, ...checked });
      });
    },
    listInvitations: () => store.read(async (tx) => (await waiting(tx)).map(shownInvitation)),
    endInvitations: (nameOrId) =>
      store.transaction(async (tx) => {
        const isMeant = (link: OperatorLinkRow) => invitationId(link) === nameOrId || link.name === nameOrId;
        const ended = (await waiting(tx)).filter(isMeant);
        if (ended.length === 0) {
          throw new NotFound(`There is no invitation ${nameOrId}. See all with: breezeway operator invitations list`);
        }
        for (const { hash } of ended) await tx.operatorLinks.remove(hash);
        return ended.map(shownInvitation);
      }),
    openLink: (kind, secret) =>
      store.read(async (tx) => {
        const link = await find(tx, kind, secret);
        return { kind, name: link.name, ...accessOf(link), needsTenant: await needsTenant(tx, link) };
      }),
    async takeLink(kind, secret, { name: typed, password, tenant, ...origin }) {
      const known = await store.read(async (tx) => {
        const link = await find(tx, kind, secret);
        const wanted = readName("name", link.name ?? typed);
        // A claim is the way back in, also by a name that an earlier version accepted.
        const storedName = (await tx.operators.byName(wanted))?.name;
        return { wanted, storedName, needsTenant: await needsTenant(tx, link) };
      });
      const name = checkOperatorName(known.wanted, known.storedName);
      const tenantName = known.needsTenant ? checkTenantName(tenant) : undefined;
      const caller: PasswordCaller = origin;
      const passwordHash = await passwords.hash(password, caller);
      return store.transaction(async (tx) => {
        const link = await find(tx, kind, secret);
        if (!(await tx.operatorLinks.remove(link.hash)) || !(await hasItsTenants(tx, link))) throw usedLink(kind);
        const tenantId = tenantName === undefined ? undefined : await addFirstTenant(tx, tenantName);
        const operator =
          kind === "claim"
            ? await becomeOwner(tx, name, passwordHash)
            : await addOperator(tx, { ...accessOf(link), name, passwordHash });
        const act = kind === "claim" ? "operator_claimed" : "operator_joined";
        const detail = { role: operator.role };
        const by = { operator: name, source: origin.source };
        await tx.audit.add(auditEntry({ act, ...by, detail }));
        if (tenantId !== undefined) {
          const added = { command: "tenant add", name: tenantName };
          await tx.audit.add(auditEntry({ act: "admin", ...by, tenantId, detail: added }));
        }
        return openSession(tx, operator.id, origin, onLimitReached);
      });
    },
  };
}

/** False when a tenant of the link was removed. A later tenant can have the same id. */
async function hasItsTenants(tx: OperatorTables, { tenantIds, createdMs }: OperatorLinkRow): Promise<boolean> {
  for (const tenantId of tenantIds) {
    const tenant = await tx.tenants.hold(tenantId);
    if (!tenant || tenant.createdMs > createdMs) return false;
  }
  return true;
}

/** A claim by the name of an operator is the way back in: a new password, and the role of an owner. */
async function becomeOwner(tx: OperatorTables, name: string, passwordHash: string): Promise<OperatorRow> {
  const named = await tx.operators.byName(name);
  if (!named) return addOperator(tx, { ...owner, name, passwordHash });
  // The lock serialises this with a sign-in with the old password, whose session ends too.
  const known = await tx.operators.lock(named.id);
  if (!known) throw new Conflict(`The operator ${name} was removed at the same moment. Try again.`);
  await tx.operators.setAccess(known.id, owner);
  await tx.operators.setPasswordHash(known.id, passwordHash);
  await tx.operators.setSuspended(known.id, false);
  await tx.operatorSessions.removeOfOperator(known.id);
  await tx.operatorTokens.removeOfOperator(known.id);
  return (await tx.operators.byId(known.id))!;
}

/** Another claim may have added a tenant at the same moment: then there is a first one, and the result is undefined. */
async function addFirstTenant(tx: OperatorTables, name: string): Promise<TenantId | undefined> {
  return (await tx.tenants.list()).length === 0 ? tx.tenants.add({ name }) : undefined;
}

function shownInvitation(link: OperatorLinkRow): WaitingInvitation {
  const { name, createdMs, expiresMs } = link;
  return { id: invitationId(link), name, ...accessOf(link), createdMs, expiresMs };
}

/** A part of the stored hash. Nobody can find the secret of the link with it. */
function invitationId({ hash }: OperatorLinkRow): string {
  return `oi_${hash.slice(0, 16)}`;
}

function usedLink(kind: OperatorLinkRow["kind"]): NotFound {
  const next =
    kind === "claim" ? "Get another with: breezeway operator claim" : "Ask the person who invited you for another.";
  return new NotFound(`This link was used, or has expired. ${next}`);
}
