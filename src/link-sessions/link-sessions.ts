import { randomBytes } from "node:crypto";
import type { Connector } from "../ecosystems/connector.ts";
import type { Federation } from "../federation/federation.ts";
import type { KeepAnswer } from "../idempotency/idempotent-writes.ts";
import type { Identity } from "../identity/identity.ts";
import type { Principal } from "../identity/principal.ts";
import { hashOf, keyOf, newSecret } from "../identity/secrets.ts";
import { ownerWithin } from "../model/access-scope.ts";
import {
  AlreadyFederated,
  BadParameter,
  LimitReached,
  NotFederated,
  NotFound,
  UnknownEcosystem,
} from "../model/errors.ts";
import type { OwnerId, TenantId, UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Clients } from "../oauth/clients.ts";
import type { OutgoingCalls } from "../runtime/network/outgoing-calls.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { Sweep } from "../runtime/sweep.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LinkSessionRow } from "../store/tables/link-sessions.ts";
import { linkingWith } from "./linking.ts";
import { accountPageId, accountUrl, clientOf } from "./session-client.ts";
import type { EndTables } from "./session-end.ts";
import { expireSessions } from "./session-expiry.ts";
import { newSessionSecrets, pageToken, type Sealer, sealSecrets } from "./session-secrets.ts";
import { problemOf, type SessionProblem, type SessionStatus, sessionMs, statusOf } from "./session-status.ts";
import { sessionKeptMs, sweepSessions } from "./session-sweep.ts";
import { SessionWork } from "./session-work.ts";
import { type LinkStep, linkAddresses } from "./steps/step.ts";
import { linkSteps } from "./steps/steps.ts";
import { discardCredentials } from "./unlinked-credentials.ts";

const sweepEveryMs = 600_000;
/** How late a client may hear that a session has expired. */
const expireEveryMs = 30_000;
const discardEveryMs = 30_000;

export interface NewLinkSession {
  readonly ecosystem: string;
  readonly userId?: UserId | undefined;
  readonly mode: "link" | "renew";
  readonly returnUrl?: string | undefined;
  readonly state?: string | undefined;
}

export interface CreatedLinkSession {
  readonly id: string;
  /** The address of the page. It holds a secret. */
  readonly url: string;
  readonly expiresMs: number;
}

/** A session that the account page has started. */
export interface SignedInLinkSession extends CreatedLinkSession {
  /** The secret for the cookie of the session, in the browser of the user. */
  readonly browserSecret: string;
}

/** A session as its client sees it. */
export interface ShownLinkSession
  extends Pick<LinkSessionRow, "id" | "ecosystem" | "mode" | "userId" | "deviceId" | "createdMs" | "expiresMs"> {
  readonly status: SessionStatus;
  /** What went wrong last; undefined when nothing did. */
  readonly problem: SessionProblem | undefined;
}

/** Sessions in which the owner of an account links it on our pages. A session belongs to the client that made it. */
export interface LinkSessions {
  create(
    caller: Principal & { readonly clientId: string },
    session: NewLinkSession,
    keep?: KeepAnswer<CreatedLinkSession>,
  ): Promise<CreatedLinkSession>;
  /** Starts a session for a user who is signed in to the account page. It is valid only in that browser. */
  createForAccount(
    user: { readonly userId: UserId; readonly tenantId: TenantId },
    session: Pick<NewLinkSession, "ecosystem" | "mode">,
  ): Promise<SignedInLinkSession>;
  get(caller: Principal & { readonly clientId: string }, id: string): Promise<ShownLinkSession>;
  /** The requests of browsers. */
  readonly steps: readonly LinkStep[];
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Tells the clients of sessions whose time is over, and removes old sessions; returns how many were removed. */
  sweep(): Promise<number>;
}

export interface LinkSessionParts {
  readonly store: Store<EndTables & Pick<Transaction, "users" | "links" | "idempotencyKeys">>;
  readonly sealer: Sealer;
  readonly identity: Pick<Identity, "signIn" | "brandOf">;
  readonly clients: Pick<Clients, "findClient">;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly federation: Pick<Federation, "link" | "relink">;
  readonly outgoing: OutgoingCalls;
  readonly runtime: Runtime;
  readonly baseUrl: () => string;
  /** Called when the log has grown. */
  readonly appended: () => void;
}

export function linkSessionsOn(parts: LinkSessionParts): LinkSessions {
  const { store, sealer, connectors, runtime, baseUrl } = parts;
  const work = new SessionWork(runtime.report);
  const redirectUri = () => baseUrl().replace(/\/$/, "") + linkAddresses.callback;
  const linking = linkingWith({ ...parts, report: runtime.report, redirectUri });
  const sweep = new Sweep({
    task: "link_sessions",
    failure: "old link sessions could not be removed",
    everyMs: sweepEveryMs,
    runtime,
    remove: (signal) => sweepSessions(parts, signal),
  });
  const expiry = new Sweep({
    task: "link_sessions",
    failure: "link sessions could not be expired",
    everyMs: expireEveryMs,
    runtime,
    remove: (signal) => expireSessions(parts, signal),
  });
  const discarding = new Sweep({
    task: "link_sessions",
    failure: "credentials of expired link sessions could not be revoked",
    everyMs: discardEveryMs,
    runtime,
    remove: (signal) => discardCredentials(parts, signal),
  });

  function consentingConnector(ecosystem: string): Connector {
    const connector = connectors.get(ecosystem.toLowerCase());
    if (!connector) {
      throw new UnknownEcosystem(`There is no ecosystem of that name. Known: ${[...connectors.keys()].join(", ")}.`);
    }
    if (connector.consent) return connector;
    const sentence = `${connector.name} has no link page: its settings name no client that could ask an account's owner.`;
    throw new BadParameter("ecosystem", sentence);
  }

  async function checkClient(caller: Creator, returnUrl: string | undefined): Promise<void> {
    const client = await clientOf(parts, caller);
    if (!client) throw new NotFound("The client of this access token does not exist.");
    if (returnUrl === undefined || client.returnUrls.includes(returnUrl)) return;
    const sentence = "The member returnUrl must be one of the client's return addresses, character for character.";
    throw new BadParameter("returnUrl", sentence);
  }

  /** `browserSecret`: the secret in the cookie of a browser in which the user is signed in. */
  async function create(
    caller: Creator,
    { ecosystem, userId: wanted, mode, returnUrl, state }: NewLinkSession,
    { keep, browserSecret }: { keep?: KeepAnswer<CreatedLinkSession> | undefined; browserSecret?: string } = {},
  ): Promise<CreatedLinkSession> {
    const ownerId = ownerWithin(caller);
    const { clientId, tenantId } = caller;
    await store.read((tx) => refuseMore(tx, ownerId, clientId));
    const { name } = consentingConnector(ecosystem);
    await checkClient(caller, returnUrl);
    const userId = wanted ?? (caller.kind === "user" ? caller.userId : null);
    const id = `ls_${randomBytes(16).toString("base64url")}`;
    const secrets = newSessionSecrets();
    const token = pageToken(secrets, { ownerId });
    return store.transaction(async (tx) => {
      await refuseMore(tx, ownerId, clientId);
      if (userId !== null) {
        if (!(await tx.users.within(caller, userId))) throw new NotFound("User does not exist.");
        const link = await tx.links.find(userId, name);
        if (mode === "link" && link) throw new AlreadyFederated(name);
        if (mode === "renew" && !link) throw new NotFederated(name);
      }
      const createdMs = await tx.clock.nowMs();
      const expiresMs = createdMs + sessionMs;
      await tx.linkSessions.add({
        ownerId,
        id,
        tenantId,
        clientId,
        userId,
        ecosystem: name,
        mode,
        returnUrl: returnUrl ?? null,
        clientState: state ?? null,
        tokenHash: keyOf(token).hash,
        createdMs,
        expiresMs,
        ...notBegun,
        ...(browserSecret !== undefined && { isSignedIn: true, browserHash: hashOf(browserSecret) }),
        sealed: sealSecrets(sealer, id, secrets),
      });
      const url = baseUrl().replace(/\/$/, "") + linkAddresses.page.replace(":token", token);
      const created = { id, url, expiresMs };
      await keep?.(tx, created);
      return created;
    });
  }

  return {
    create: (caller, session, keep) => create(caller, session, { keep }),
    async createForAccount({ userId, tenantId }, session) {
      const browserSecret = newSecret("");
      const caller = { kind: "user", userId, tenantId, clientId: accountPageId } as const;
      const returnUrl = accountUrl(baseUrl(), tenantId);
      return { ...(await create(caller, { ...session, returnUrl }, { browserSecret })), browserSecret };
    },
    async get(caller, id) {
      const found = await store.read(async (tx) => ({
        session: await tx.linkSessions.find({ ownerId: ownerWithin(caller), id }),
        nowMs: await tx.clock.nowMs(),
      }));
      const { session, nowMs } = found;
      if (session?.clientId !== caller.clientId) throw new NotFound("There is no such link session.");
      return { ...session, status: statusOf(session, nowMs), problem: problemOf(session) };
    },
    steps: linkSteps({ ...parts, linking, work, redirectUri }),
    async start() {
      // On SQLite no other node exists: a session that was being worked on before a restart goes on at once.
      if (!store.isShared) await store.transaction((tx) => tx.linkSessions.releaseClaims());
      sweep.start();
      expiry.start();
      discarding.start();
    },
    async stop() {
      await Promise.all([sweep.stop(), expiry.stop(), discarding.stop()]);
      await work.stop(runtime);
    },
    async sweep() {
      await expiry.run();
      return sweep.run();
    },
  };
}

type Creator = Principal & { readonly clientId: string };

/** The progress of a new session. */
const notBegun = {
  isSignedIn: false,
  browserHash: null,
  stateHash: null,
  attempt: 0,
  phase: "open",
  claimedMs: null,
  problem: null,
  deviceId: null,
  summary: null,
} as const;

/** The sessions of the last day count, also those that have ended. */
async function refuseMore(
  tx: Pick<Transaction, "linkSessions" | "clock">,
  ownerId: OwnerId,
  clientId: string,
): Promise<void> {
  const limit = ownerId > 0 ? "linkSessionsPerUser" : "linkSessionsPerClient";
  const most = limits[limit];
  const sinceMs = (await tx.clock.nowMs()) - sessionKeptMs;
  if ((await tx.linkSessions.count(ownerId, clientId, most, sinceMs)) < most) return;
  throw new LimitReached(limit, `There are ${most} link sessions of the last day already. Try again later.`);
}
