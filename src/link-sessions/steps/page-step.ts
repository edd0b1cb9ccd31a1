import { newSecret } from "../../identity/secrets.ts";
import { formOf } from "../../oauth/authorize/browser.ts";
import { pause } from "../../runtime/runtime.ts";
import type { LinkSessionRow } from "../../store/tables/link-sessions.ts";
import { endSession } from "../session-end.ts";
import { isOfBrowser } from "../session-secrets.ts";
import { hasEnded, isExpired, isWorkedOn, problemOf, problems } from "../session-status.ts";
import { claimSession } from "./claim.ts";
import { type FoundSession, findSession } from "./found-session.ts";
import { sessionPages } from "./session-pages.ts";
import { type LinkAnswer, type LinkStep, type LinkVisit, linkAddresses, type StepParts } from "./step.ts";

/** How long a request waits for the outcome, and how often it looks: the work may be done by another node. */
const wait = { mostMs: 10_000, everyMs: 250 };

/** Shows the page of the session's present state. It can be opened again at any time: Back and Reload are harmless. */
export function pageStep(parts: StepParts): LinkStep {
  const show = sessionPages(parts);
  const answer: LinkStep["answer"] = async (token, sent, visit) => {
    const found = await findSession(parts, "token", token);
    if (!found) return show.unknown();
    if (formOf(sent, ["wait"]).wait !== "true" || !isBusy(found)) return showState(parts, found, visit);
    const later = await afterWork(parts, token, found, visit);
    return later ? showState(parts, later, visit) : show.unknown();
  };
  return { name: "page", method: "GET", path: linkAddresses.page, answer };
}

function isBusy({ session, nowMs }: FoundSession): boolean {
  return isWorkedOn(session, nowMs);
}

/** Waits until no node works on the session, but not for long. */
async function afterWork(
  parts: StepParts,
  token: string,
  found: FoundSession,
  { disconnected }: LinkVisit,
): Promise<FoundSession | undefined> {
  const { work, runtime } = parts;
  const untilMs = runtime.elapsedMs() + wait.mostMs;
  let latest: FoundSession | undefined = found;
  while (latest && isBusy(latest) && runtime.elapsedMs() < untilMs && !disconnected.aborted) {
    await Promise.race([work.settled(found.session.id), pause(runtime, wait.everyMs, disconnected)]);
    await pause(runtime, 0, disconnected);
    latest = await findSession(parts, "token", token);
  }
  return latest;
}

/** The page of the session's state, for this browser. */
async function showState(parts: StepParts, found: FoundSession, visit: LinkVisit): Promise<LinkAnswer> {
  const { session, nowMs, needsSignIn } = found;
  const show = sessionPages(parts);
  const sent = visit.secretOf(session.id);
  const isOurs = isOfBrowser(session, sent);
  if (hasEnded(session)) return isOurs ? show.ended(found) : show.used(found);
  if (isExpired(session, nowMs)) return show.expired(found);
  if (session.browserHash !== null && !isOurs) return show.otherBrowser(found);
  if (isBusy(found)) return show.reading(found);
  const isUnfinished = session.phase === "exchanging" || session.phase === "reading";
  if (isOurs && isUnfinished && !needsSignIn) return resume(parts, found, visit);
  // A browser that has no cookie gets one. It is bound to the session only when it sends a form: a program that looks
  // at addresses in messages must not bind it.
  const secret = sent ?? newSecret("");
  const cookie = { sessionId: session.id, secret };
  if (needsSignIn) return { ...(await show.signIn(found, secret)), cookie };
  if (session.phase === "unread") return show.unreachable(found, secret);
  if (session.phase === "asking") return show.anotherAccount(found, secret);
  const mismatch = mismatchOf(found);
  if (mismatch) return endMismatched(parts, found, isOurs, mismatch, visit);
  if (session.problem !== null && found.connector.consent?.asksForAddress !== true) {
    return show.unreachable(found, secret);
  }
  const problem = session.problem === null ? {} : { problem: unreachableWords(found) };
  return { ...(await show.connect(found, secret, problem)), cookie };
}

function unreachableWords({ session, connector: { displayName } }: FoundSession): string {
  if (problemOf(session)?.side !== "ecosystem") {
    return `We were interrupted before your ${displayName} had answered. Try again.`;
  }
  return `Your ${displayName} did not answer. Check the address, wait a moment and try again.`;
}

/** A node that worked on the session is gone. With a credential, this node goes on; without one, a new consent is needed. */
async function resume(parts: StepParts, found: FoundSession, { source }: LinkVisit): Promise<LinkAnswer> {
  const { store, work, linking } = parts;
  const { session } = found;
  const show = sessionPages(parts);
  if (session.phase === "exchanging") {
    await store.transaction(async (tx) => {
      const current = await tx.linkSessions.lock(session);
      if (current?.phase !== "exchanging" || current.claimedMs !== session.claimedMs) return;
      const problem = JSON.stringify(problems.interrupted());
      await tx.linkSessions.save({ ...current, phase: "open", claimedMs: null, problem });
    });
    return { kind: "redirect", status: 303, location: show.address(found, "page") };
  }
  const claimed = await claimSession(parts, session, "reading", ({ phase }) => phase === "reading");
  if (claimed) {
    work.start(claimed.id, (signal) => linking.readAccount({ session: claimed, source }, false, signal));
  }
  return show.reading(found);
}

/** What makes the session impossible: the user is linked already, or has no link that could be renewed. */
function mismatchOf({ session: { mode }, isLinked }: FoundSession) {
  if (mode === "link" && isLinked) return problems.alreadyLinked();
  return mode === "renew" && !isLinked ? problems.notLinked() : undefined;
}

/** Ends the session if this browser is bound to it. Others only see the page. */
async function endMismatched(
  parts: StepParts,
  found: FoundSession,
  isOurs: boolean,
  problem: NonNullable<ReturnType<typeof mismatchOf>>,
  { source }: LinkVisit,
): Promise<LinkAnswer> {
  const { store, sealer, appended } = parts;
  const failed: LinkSessionRow = { ...found.session, phase: "failed", problem: JSON.stringify(problem) };
  if (isOurs) {
    await store.transaction(async (tx) => {
      const current = await tx.linkSessions.lock(found.session);
      if (current?.phase === "open") await endSession(tx, sealer, current, { phase: "failed", problem }, source);
    });
    appended();
  }
  return sessionPages(parts).ended({ ...found, session: failed });
}
