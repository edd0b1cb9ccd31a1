import type { Connector } from "../ecosystems/connector.ts";
import type { Federation } from "../federation/federation.ts";
import {
  AlreadyFederated,
  AnotherAccount,
  ClientGone,
  Conflict,
  EcosystemRefused,
  EcosystemUnreachable,
  NotFederated,
  StoreUnavailable,
  TooManyRequests,
} from "../model/errors.ts";
import type { OutgoingCalls } from "../runtime/network/outgoing-calls.ts";
import type { Logger } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LinkSessionRow } from "../store/tables/link-sessions.ts";
import { type HomeSummary, summaryOf } from "./home-summary.ts";
import { causeOfSession } from "./session-calls.ts";
import { type EndTables, endSession, type SessionEnd } from "./session-end.ts";
import { codeVerifier, openSecrets, type Sealer, sealSecrets } from "./session-secrets.ts";
import { problems, type SessionProblem } from "./session-status.ts";

export interface LinkingParts {
  readonly store: Store<EndTables & Pick<Transaction, "users">>;
  readonly sealer: Sealer;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly federation: Pick<Federation, "link" | "relink">;
  readonly outgoing: OutgoingCalls;
  readonly report: Logger;
  /** Breezeway's callback, as it is registered with the ecosystems. */
  readonly redirectUri: () => string;
  /** Called when the log has grown. */
  readonly appended: () => void;
}

/** A session that this node has claimed, and the address of the browser, for the audit log. */
export interface Claimed {
  readonly session: LinkSessionRow;
  readonly source: string;
}

/** The code of a consent, and which consent it belongs to. */
export interface ReceivedCode {
  readonly code: string;
  readonly attempt: number;
}

/** Another node has taken the session over. Its result counts. */
class ClaimLost extends Conflict {}

/** The user was signed out while the account was read, for example by a new password. */
class SignedOut extends Conflict {}

/** Turns a code into a link. Each step is stored before the next one begins, so that another node can go on. */
export function linkingWith(parts: LinkingParts) {
  const { store, sealer, connectors, federation, outgoing, report, redirectUri, appended } = parts;

  /** Changes the session if this node still holds it. */
  const change = (
    { session }: Claimed,
    body: (tx: EndTables, current: LinkSessionRow) => Promise<void>,
  ): Promise<void> => store.transaction(async (tx) => body(tx, await held(tx, session)));

  const end = async (claimed: Claimed, how: SessionEnd): Promise<void> => {
    await change(claimed, (tx, current) => endSession(tx, sealer, current, how, claimed.source));
    appended();
  };
  const fail = (claimed: Claimed, problem: SessionProblem) => end(claimed, { phase: "failed", problem });

  /** Exchanges the code, once, and then links the account. */
  async function exchange(claimed: Claimed, { code, attempt }: ReceivedCode, signal: AbortSignal): Promise<void> {
    const { session } = claimed;
    const consent = connectors.get(session.ecosystem)?.consent;
    if (!consent) return fail(claimed, problems.refused(`${session.ecosystem} has no link page any more.`));
    const secrets = openSecrets(sealer, session);
    const { address: typed, canonicalAddress: address = typed } = secrets;
    const answer = {
      code,
      redirectUri: redirectUri(),
      codeVerifier: codeVerifier(secrets, attempt),
      ...(address !== undefined && { address }),
    };
    const call = (inTime: AbortSignal) => consent.exchange(answer, inTime);
    const outcome = await outgoing.run(causeOfSession(session, signal), call).catch((error: unknown) => {
      const problem = passingProblem(error, signal);
      if (!problem) throw error;
      return { problem };
    });
    if ("problem" in outcome) return reopen(claimed, "open", outcome.problem);
    if (outcome.state === "refused") return fail(claimed, problems.refused(outcome.reason));
    if (outcome.state === "unanswered") return reopen(claimed, "open", unanswered(outcome.detail, signal));
    const sealed = sealSecrets(sealer, session.id, { ...secrets, credential: outcome.credential });
    const reading = { phase: "reading", sealed, problem: null } as const;
    // The user may have signed out meanwhile: the other members stay as they are now.
    await change(claimed, (tx, current) => tx.linkSessions.save({ ...current, ...reading }));
    await readAccount({ ...claimed, session: { ...session, ...reading } }, false, signal);
  }

  /** Links the account of the stored credential. The end of the session is stored with the link, in one transaction. */
  async function readAccount(claimed: Claimed, mayChangeAccount: boolean, signal: AbortSignal): Promise<void> {
    const { session, source } = claimed;
    const { userId, ecosystem, mode } = session;
    const { credential } = openSecrets(sealer, session);
    if (userId === null || !credential) throw new Error("a session without user or credential can't be linked");
    let otherHome: HomeSummary = [];
    const options = {
      linkSession: session.id,
      disconnected: signal,
      also: async (
        tx: EndTables,
        deviceId: NonNullable<LinkSessionRow["deviceId"]>,
        home: Parameters<typeof summaryOf>[0],
      ) => {
        const linked = { phase: "linked", deviceId, summary: summaryOf(home) } as const;
        const current = await held(tx, session);
        if (current.isSignedIn !== session.isSignedIn) throw new SignedOut("The user was signed out.");
        await endSession(tx, sealer, current, linked, source);
      },
      ...(!mayChangeAccount && {
        onAnotherAccount: (home: Parameters<typeof summaryOf>[0]) => {
          otherHome = summaryOf(home);
        },
      }),
    };
    try {
      const act = mode === "link" ? federation.link : federation.relink;
      await act(userId, ecosystem, credential, undefined, options);
      appended();
    } catch (error) {
      if (error instanceof AnotherAccount) return ask(claimed, otherHome);
      const passing = passingProblem(error, signal);
      // The credential is kept, and the user can go on from here.
      if (passing) return reopen(claimed, "unread", passing);
      const problem = endingProblem(error);
      if (!problem) throw error;
      await fail(claimed, problem);
    }
  }

  /** The session waits for the user again, who sees what went wrong. */
  function reopen(claimed: Claimed, phase: "open" | "unread", problem: SessionProblem): Promise<void> {
    const values = { phase, claimedMs: null, problem: JSON.stringify(problem) } as const;
    return change(claimed, (tx, current) => tx.linkSessions.save({ ...current, ...values }));
  }

  /** The user decides whether the device shows another account. */
  function ask(claimed: Claimed, home: HomeSummary): Promise<void> {
    const values = { phase: "asking", claimedMs: null, problem: null, summary: JSON.stringify(home) } as const;
    return change(claimed, (tx, current) => tx.linkSessions.save({ ...current, ...values }));
  }

  /** Runs a step. An unexpected error ends the session; while the store can't be used, it stays claimed. */
  async function guarded(claimed: Claimed, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (error instanceof ClaimLost || error instanceof StoreUnavailable) return;
      const { id, ecosystem } = claimed.session;
      report.error({ linkSession: id, ecosystem, error }, "a link session failed because of an unexpected error");
      await fail(claimed, problems.internal()).catch((again: unknown) => {
        if (!(again instanceof ClaimLost) && !(again instanceof StoreUnavailable)) throw again;
      });
    }
  }

  return {
    exchange: (claimed: Claimed, received: ReceivedCode, signal: AbortSignal) =>
      guarded(claimed, () => exchange(claimed, received, signal)),
    readAccount: (claimed: Claimed, mayChangeAccount: boolean, signal: AbortSignal) =>
      guarded(claimed, () => readAccount(claimed, mayChangeAccount, signal)),
  };
}

/** The session under its lock. The claim is the fencing token: it changes when another node takes the session over. */
async function held(tx: Pick<Transaction, "linkSessions">, session: LinkSessionRow): Promise<LinkSessionRow> {
  const current = await tx.linkSessions.lock(session);
  if (current?.claimedMs !== session.claimedMs) throw new ClaimLost("Another node goes on with this link session.");
  return current;
}

/** The ecosystem is not to blame for a call that this node has ended because it stops. */
function unanswered(detail: string, { aborted }: AbortSignal): SessionProblem {
  return aborted ? problems.interrupted() : problems.unreachable(detail);
}

/** A problem after which the user can try again. */
function passingProblem(error: unknown, signal: AbortSignal): SessionProblem | undefined {
  if (error instanceof EcosystemUnreachable) return unanswered(error.message, signal);
  // This node stops; or the page asks for the password first, and then the user can go on.
  if (error instanceof ClientGone || error instanceof SignedOut) return problems.interrupted();
  return error instanceof TooManyRequests ? problems.busy() : undefined;
}

function endingProblem(error: unknown): SessionProblem | undefined {
  if (error instanceof EcosystemRefused) return problems.refused(error.message);
  if (error instanceof AlreadyFederated) return problems.alreadyLinked();
  if (error instanceof NotFederated) return problems.notLinked();
  return undefined;
}
