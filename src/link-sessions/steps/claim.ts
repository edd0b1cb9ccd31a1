import type { LinkSessionRow } from "../../store/tables/link-sessions.ts";
import { hasEnded, isExpired, isWorkedOn } from "../session-status.ts";
import type { StepParts } from "./step.ts";

/**
 * Claims a session for work in this phase, under its lock. `mayClaim` sees the session as it is then. Undefined when
 * another request was first, when the session has ended or expired, or when the user was signed out since it was read.
 */
export function claimSession(
  { store }: Pick<StepParts, "store">,
  session: LinkSessionRow,
  phase: "exchanging" | "reading",
  mayClaim: (current: LinkSessionRow) => boolean,
): Promise<LinkSessionRow | undefined> {
  return store.transaction(async (tx) => {
    const current = await tx.linkSessions.lock(session);
    const nowMs = await tx.clock.nowMs();
    if (!current || hasEnded(current) || isExpired(current, nowMs) || isWorkedOn(current, nowMs)) return undefined;
    if (current.isSignedIn !== session.isSignedIn || !mayClaim(current)) return undefined;
    // The claim is a fencing token, so that no two claims may be the same.
    const claimedMs = Math.max(nowMs, (current.claimedMs ?? 0) + 1);
    const attempt = current.attempt + (phase === "exchanging" ? 1 : 0);
    const claimed = { ...current, phase, claimedMs, attempt };
    await tx.linkSessions.save(claimed);
    return claimed;
  });
}
