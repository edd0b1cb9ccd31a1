import type { LinkSessionPhase, LinkSessionRow } from "../store/tables/link-sessions.ts";

/** The state of a session as its client sees it. */
export type SessionStatus = "pending" | "linked" | "declined" | "failed" | "expired";

/** What went wrong, and on which side. The sentence holds no secret. */
export interface SessionProblem {
  readonly side: "ecosystem" | "client" | "breezeway";
  readonly code:
    | "ecosystem_unreachable"
    | "ecosystem_refused"
    | "already_linked"
    | "not_linked"
    | "interrupted"
    | "busy"
    | "internal_error";
  readonly description: string;
}

/** Makes the problems, each with its side. */
export const problems = {
  unreachable: (description: string) => problem("ecosystem", "ecosystem_unreachable", description),
  refused: (description: string) => problem("ecosystem", "ecosystem_refused", description),
  alreadyLinked: () => problem("client", "already_linked", "The user is connected to this ecosystem already."),
  notLinked: () =>
    problem("client", "not_linked", "The user is not connected to this ecosystem, so nothing can be connected again."),
  interrupted: () =>
    problem("breezeway", "interrupted", "Breezeway was interrupted before it had the ecosystem's answer."),
  busy: () => problem("breezeway", "busy", "Breezeway makes too many calls at this moment."),
  internal: () => problem("breezeway", "internal_error", "An unexpected error in Breezeway. Its log says more."),
};

function problem(side: SessionProblem["side"], code: SessionProblem["code"], description: string): SessionProblem {
  return { side, code, description };
}

/** How long a session may be used. */
export const sessionMs = 30 * 60_000;

/**
 * So far may the beginning of a session lie in the future. Beyond that the clock was set back, and how old the session is
 * can't be told: it is over.
 */
export const sessionAheadMs = 60_000;

/**
 * After this time without a result, the node that did the work counts as gone. Longer than all its calls together: an
 * ecosystem accepts a code once, so a second node that began too early would turn a slow linking into a failed one.
 */
export const claimMs = 120_000;

const ends: readonly LinkSessionPhase[] = ["linked", "declined", "failed"];

/** Whether somebody has ended it. A session that nobody has ended expires (`isExpired`). */
export function hasEnded({ phase }: Pick<LinkSessionRow, "phase">): boolean {
  return ends.includes(phase);
}

/** Whether a node works on the session now. */
export function isWorkedOn({ phase, claimedMs }: Pick<LinkSessionRow, "phase" | "claimedMs">, nowMs: number): boolean {
  const isWork = phase === "exchanging" || phase === "reading";
  return isWork && claimedMs !== null && nowMs < claimedMs + claimMs;
}

/** A session that a node works on does not expire before the work has ended. */
export function isExpired(session: LinkSessionRow, nowMs: number): boolean {
  if (session.phase === "expired" || session.phase === "discarding") return true;
  const isOver = nowMs >= session.expiresMs || session.createdMs - nowMs > sessionAheadMs;
  return !hasEnded(session) && isOver && !isWorkedOn(session, nowMs);
}

export function statusOf(session: LinkSessionRow, nowMs: number): SessionStatus {
  const { phase } = session;
  if (phase === "linked" || phase === "declined" || phase === "failed") return phase;
  return isExpired(session, nowMs) ? "expired" : "pending";
}

export function problemOf({ problem }: Pick<LinkSessionRow, "problem">): SessionProblem | undefined {
  return problem === null ? undefined : (JSON.parse(problem) as SessionProblem);
}
