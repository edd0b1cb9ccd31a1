import type { ConsentStart } from "../../ecosystems/consent.ts";
import { hashOf, isSame } from "../../identity/secrets.ts";
import { TooManyRequests } from "../../model/errors.ts";
import { formOf } from "../../oauth/authorize/browser.ts";
import type { LinkSessionRow } from "../../store/tables/link-sessions.ts";
import { discardCredential } from "../discarded-credential.ts";
import { causeOfSession } from "../session-calls.ts";
import { endSession } from "../session-end.ts";
import { challengeOf, codeVerifier, consentState, csrfOf, isOfBrowser, sealSecrets } from "../session-secrets.ts";
import { hasEnded, isExpired, isWorkedOn } from "../session-status.ts";
import { claimSession } from "./claim.ts";
import { type FoundSession, findSession } from "./found-session.ts";
import { sessionPages } from "./session-pages.ts";
import { type LinkAnswer, type LinkStep, type LinkVisit, linkAddresses, type StepParts } from "./step.ts";

/** The longest address that an owner may type. */
const longestAddress = 2_000;

/** Takes the user's decision on any page of the session. A form that comes too late, or twice, shows the present state. */
export function decisionStep(parts: StepParts): LinkStep {
  const show = sessionPages(parts);
  const answer: LinkStep["answer"] = async (token, sent, visit) => {
    const { csrf, decision, address } = formOf(sent, ["csrf", "decision", "address"]);
    const found = await findSession(parts, "token", token);
    if (!found) return show.unknown();
    const { session, nowMs } = found;
    const toPage = { kind: "redirect", status: 303, location: show.address(found, "page") } as const;
    const secret = visit.secretOf(session.id);
    const isBound = session.browserHash !== null;
    if (secret === undefined || (isBound && !isOfBrowser(session, secret)) || found.needsSignIn) return toPage;
    if (!isSame(csrf, csrfOf(secret, session.id))) return toPage;
    if (hasEnded(session) || isExpired(session, nowMs) || isWorkedOn(session, nowMs)) return toPage;
    const decided: Decided = { found, secret, visit };
    if (decision === "cancel" || decision === "keep") await decline(parts, decided);
    else if (decision === "switch" && session.phase === "asking") await read(parts, decided, "asking");
    else if (decision === "continue" && session.phase === "unread") await read(parts, decided, "unread");
    else if (decision === "continue" && session.phase === "open") return leave(parts, decided, address);
    return toPage;
  };
  return { name: "decision", method: "POST", path: linkAddresses.page, answer };
}

interface Decided {
  readonly found: FoundSession;
  /** The secret in the browser's cookie. */
  readonly secret: string;
  readonly visit: LinkVisit;
}

/** Ends the session without a link. A credential that it holds is revoked. */
async function decline(parts: StepParts, { found, secret, visit }: Decided): Promise<void> {
  const { store, sealer, appended } = parts;
  const declined = await store.transaction(async (tx) => {
    const current = await tx.linkSessions.lock(found.session);
    if (!current || !isStill(current, found.session, secret)) return undefined;
    await endSession(tx, sealer, { ...current, browserHash: hashOf(secret) }, { phase: "declined" }, visit.source);
    return current;
  });
  if (!declined) return;
  appended();
  parts.work.start(`${declined.id} discarded`, (signal) =>
    parts.outgoing.run(causeOfSession(declined, signal), (inTime) => discardCredential(parts, declined, inTime)),
  );
}

/** Reads the account of the stored credential again. After `asking`, the device may show another account. */
async function read(parts: StepParts, { found, visit }: Decided, from: "unread" | "asking"): Promise<void> {
  const { work, linking } = parts;
  const claimed = await claimSession(parts, found.session, "reading", ({ phase }) => phase === from);
  if (!claimed) return;
  const { source } = visit;
  work.start(claimed.id, (signal) => linking.readAccount({ session: claimed, source }, from === "asking", signal));
}

/** Sends the browser to the ecosystem, and binds the session to the browser. */
async function leave(parts: StepParts, { found, secret, visit }: Decided, typed: string): Promise<LinkAnswer> {
  const { store, sealer, redirectUri, outgoing } = parts;
  const { session, connector } = found;
  const show = sessionPages(parts);
  const toPage = { kind: "redirect", status: 303, location: show.address(found, "page") } as const;
  const consent = connector.consent!;
  const address = consent.asksForAddress ? typed.trim() : undefined;
  if (address !== undefined && (address === "" || address.length > longestAddress)) {
    const problem = `Enter the address of your ${connector.displayName}.`;
    return show.connect(found, secret, { status: 400, address: address.slice(0, longestAddress), problem });
  }
  const { address: _, ...others } = found.secrets;
  // The state depends on the address as typed: the canonical one is known only afterwards.
  const secrets = { ...others, ...(address !== undefined && { address }) };
  const state = consentState(secrets, session);
  const request = {
    redirectUri: redirectUri(),
    state,
    codeChallenge: challengeOf(codeVerifier(secrets, session.attempt)),
    ...(address !== undefined && { address }),
  };
  const problemPage = (status: number, problem: string) =>
    show.connect(found, secret, { status, ...(address !== undefined && { address }), problem });
  let start: ConsentStart | undefined;
  try {
    start = await outgoing.run(causeOfSession(session, visit.disconnected), async (inTime) => {
      // The session may have ended while the call waited.
      const current = await store.read((tx) => tx.linkSessions.find(session));
      return current && isStill(current, session, secret) ? consent.begin(request, inTime) : undefined;
    });
  } catch (error) {
    if (!(error instanceof TooManyRequests)) throw error;
    return { ...(await problemPage(429, error.message)), retryAfterSeconds: error.retryAfterSeconds };
  }
  if (!start) return toPage;
  if ("problem" in start) return problemPage(400, start.detail);
  const stored = { ...secrets, ...(start.address !== undefined && { canonicalAddress: start.address }) };
  const isLeaving = await store.transaction(async (tx) => {
    const current = await tx.linkSessions.lock(session);
    if (!current || !isStill(current, session, secret)) return false;
    await tx.linkSessions.save({
      ...current,
      browserHash: hashOf(secret),
      stateHash: hashOf(state),
      sealed: sealSecrets(sealer, session.id, stored),
      problem: null,
    });
    return true;
  });
  return isLeaving ? { ...toPage, location: start.url } : toPage;
}

/** Whether the session is as the request found it, and belongs to this browser or to none. */
function isStill(current: LinkSessionRow, before: LinkSessionRow, secret: string): boolean {
  const isFree = current.browserHash === null || isOfBrowser(current, secret);
  const isSameUser = current.isSignedIn === before.isSignedIn;
  return isFree && isSameUser && current.phase === before.phase && current.attempt === before.attempt;
}
