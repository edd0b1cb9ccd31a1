import { isSame } from "../../identity/secrets.ts";
import { formOf } from "../../oauth/authorize/browser.ts";
import type { ReceivedCode } from "../linking.ts";
import { endSession, type SessionEnd } from "../session-end.ts";
import { consentState, isOfBrowser } from "../session-secrets.ts";
import { hasEnded, isExpired, isWorkedOn, problems } from "../session-status.ts";
import { claimSession } from "./claim.ts";
import { type FoundSession, findSession } from "./found-session.ts";
import { sessionPages } from "./session-pages.ts";
import { type LinkStep, type LinkVisit, linkAddresses, type StepParts } from "./step.ts";

/** The longest code that is taken; those of ecosystems have up to a few hundred characters. */
const longestCode = 4_096;

/**
 * Takes the ecosystem's answer. Only the browser that was sent there may bring it, and only for the consent that the
 * session waits for; everything else shows the session's present state and changes nothing.
 */
export function callbackStep(parts: StepParts): LinkStep {
  const { work, linking } = parts;
  const show = sessionPages(parts);
  const answer: LinkStep["answer"] = async (_, sent, visit) => {
    const { state, code, error } = formOf(sent, ["state", "code", "error"]);
    const found = state === "" ? undefined : await findSession(parts, "state", state);
    if (!found) return show.unknown();
    const { session, secrets, nowMs } = found;
    if (!isOfBrowser(session, visit.secretOf(session.id))) return show.otherBrowser(found);
    const toPage = { kind: "redirect", status: 303, location: show.address(found, "page") } as const;
    const isOver = hasEnded(session) || isExpired(session, nowMs) || isWorkedOn(session, nowMs);
    if (isOver || session.phase !== "open" || !isSame(state, consentState(secrets, session))) return toPage;
    // The user was signed out while the browser was away, for example by a new password.
    if (found.needsSignIn) return toPage;
    if (error !== "") await refused(parts, found, error, visit);
    else if (code !== "" && code.length <= longestCode) {
      const received: ReceivedCode = { code, attempt: session.attempt };
      const claimed = await claimSession(parts, session, "exchanging", (current) => isAwaited(current, session));
      if (claimed) {
        const { source } = visit;
        work.start(claimed.id, (signal) => linking.exchange({ session: claimed, source }, received, signal));
      }
    }
    return toPage;
  };
  return { name: "callback", method: "GET", path: linkAddresses.callback, answer };
}

type Waiting = Pick<FoundSession["session"], "phase" | "attempt" | "stateHash" | "isSignedIn">;

/** Whether the session waits for the answer to the same consent, and nobody has signed the user out since it was read. */
function isAwaited(current: Waiting, before: Waiting): boolean {
  const isSameConsent = current.attempt === before.attempt && current.stateHash === before.stateHash;
  return current.phase === "open" && isSameConsent && current.isSignedIn === before.isSignedIn;
}

/** The ecosystem sent an error instead of a code (RFC 6749 4.1.2.1). */
async function refused(
  parts: StepParts,
  { session }: FoundSession,
  error: string,
  { source }: LinkVisit,
): Promise<void> {
  const { store, sealer, appended } = parts;
  await store.transaction(async (tx) => {
    const current = await tx.linkSessions.lock(session);
    if (!current || !isAwaited(current, session)) return;
    const end = endOf(error);
    if (end) await endSession(tx, sealer, current, end, source);
    else {
      const problem = JSON.stringify(problems.unreachable(`it answered ${error}`));
      await tx.linkSessions.save({ ...current, problem });
    }
  });
  appended();
}

const temporaryErrors = ["server_error", "temporarily_unavailable"];

/** How the session ends; undefined for a temporary error. */
function endOf(error: string): SessionEnd | undefined {
  if (error === "access_denied") return { phase: "declined" };
  if (temporaryErrors.includes(error)) return undefined;
  // An unknown word comes from outside: only the shape that the standard defines is shown.
  const word = /^[a-z_]{1,60}$/.test(error) ? error : "an error";
  return { phase: "failed", problem: problems.refused(`it answered ${word}`) };
}
