import { hashOf, isSame } from "../../identity/secrets.ts";
import { BadParameter, InvalidLogin, TooManyRequests } from "../../model/errors.ts";
import { formOf } from "../../oauth/authorize/browser.ts";
import { loginProblemOf } from "../../oauth/pages/login-page.ts";
import type { LinkSessionRow } from "../../store/tables/link-sessions.ts";
import { auditedClient } from "../session-client.ts";
import { csrfOf, isOfBrowser, type SessionSecrets, signedInSecret } from "../session-secrets.ts";
import { hasEnded, isExpired } from "../session-status.ts";
import { findSession } from "./found-session.ts";
import { sessionPages } from "./session-pages.ts";
import { type LinkAnswer, type LinkStep, linkAddresses, type StepParts } from "./step.ts";

/**
 * Checks name and password. The user must be the one whose account will see the home, or, if the session names nobody,
 * any user of the tenant. The session is bound to this browser from then on.
 */
export function signInStep(parts: StepParts): LinkStep {
  const { identity } = parts;
  const show = sessionPages(parts);
  const answer: LinkStep["answer"] = async (token, sent, visit): Promise<LinkAnswer> => {
    const { csrf, username, password } = formOf(sent, ["csrf", "username", "password"]);
    const found = await findSession(parts, "token", token);
    if (!found) return show.unknown();
    const { session, client, secrets } = found;
    const toPage = { kind: "redirect", status: 303, location: show.address(found, "page") } as const;
    const secret = visit.secretOf(session.id);
    if (hasEnded(session) || isExpired(session, found.nowMs) || secret === undefined) return toPage;
    // On a double click the first form has signed this browser in. The second one needs the right password too: a cookie
    // from before must not be exchanged for the new one without it.
    if (!found.needsSignIn && !wasOfBrowser(session, secrets, secret)) return toPage;
    if (!isSame(csrf, csrfOf(secret, session.id))) return toPage;
    if (username.trim() === "" || password === "") {
      return show.signIn(found, secret, { status: 400, username, problem: { kind: "empty" } });
    }
    try {
      const tenantId = String(session.tenantId);
      const { source, disconnected } = visit;
      const attempt = { tenantId, name: username, password, source, disconnected, ...auditedClient(client.id) };
      const entered = await identity.signIn(attempt, async (tx, user) => {
        const current = await tx.linkSessions.lock(session);
        if (!current || hasEnded(current)) return undefined;
        if (current.userId !== null && current.userId !== user.id) return "another user" as const;
        const isTaken = current.isSignedIn && !wasOfBrowser(current, secrets, secret);
        if (isTaken) return undefined;
        const next = signedInSecret(secrets, secret, user.id);
        await tx.linkSessions.save({ ...current, userId: user.id, isSignedIn: true, browserHash: hashOf(next) });
        return { secret: next };
      });
      if (entered === "another user") {
        const problem = { kind: "otherUser", name: found.user?.name ?? "" } as const;
        return show.signIn(found, secret, { status: 403, username: "", problem });
      }
      return { ...toPage, ...(entered && { cookie: { sessionId: session.id, secret: entered.secret } }) };
    } catch (error) {
      // Text that no name or password can hold is treated as wrong.
      if (error instanceof InvalidLogin || error instanceof BadParameter) {
        return show.signIn(found, secret, { status: 401, username, problem: loginProblemOf(error) });
      }
      if (!(error instanceof TooManyRequests)) throw error;
      const { retryAfterSeconds } = error;
      const problem = { kind: "tooMany", retryAfterSeconds } as const;
      return { ...(await show.signIn(found, secret, { status: 429, username, problem })), retryAfterSeconds };
    }
  };
  return { name: "signIn", method: "POST", path: linkAddresses.signIn, answer };
}

/** Whether this is the cookie that the browser had before it signed in. */
function wasOfBrowser(session: LinkSessionRow, secrets: SessionSecrets, secret: string): boolean {
  return session.userId !== null && isOfBrowser(session, signedInSecret(secrets, secret, session.userId));
}
