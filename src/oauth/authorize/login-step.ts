import { hashOf, newOwnedSecret, newSecret } from "../../identity/secrets.ts";
import { BadParameter, InvalidLogin, TooManyRequests } from "../../model/errors.ts";
import { loginProblemOf } from "../pages/login-page.ts";
import { authorizePages } from "./authorize-pages.ts";
import { authorizePaths, callerOf, formOf, signInStepLifetimeMs } from "./browser.ts";
import { denied } from "./client-redirect.ts";
import { isOfBrowser, openTicket } from "./login-ticket.ts";
import type { AuthorizeParts, AuthorizeStep } from "./step.ts";

/**
 * Checks name and password and redirects to the terms. A form may be sent twice (a double click): until the user has
 * decided, each right password starts a sign-in.
 */
export function loginStep(parts: AuthorizeParts): AuthorizeStep {
  const { store, identity, sealer } = parts;
  const show = authorizePages(parts);
  const answer: AuthorizeStep["answer"] = async (sent, { browserSecret, source, disconnected }) => {
    const { transaction, csrf, username, password } = formOf(sent, ["transaction", "csrf", "username", "password"]);
    const ticket = openTicket(sealer, transaction, csrf);
    const client = ticket && (await show.stillRegistered(ticket.request));
    if (!ticket || !client) return show.expired();
    const { request } = ticket;
    const { nowMs, isThisBrowser, decision } = await store.read(async (tx) => ({
      nowMs: await tx.clock.nowMs(),
      // On a double click the first answer may have changed the cookie already. Then the cookie is that of a sign-in.
      isThisBrowser:
        browserSecret !== undefined &&
        (isOfBrowser(ticket, browserSecret) || (await tx.signIns.isOfBrowser(ticket.id, hashOf(browserSecret)))),
      decision: await tx.signIns.decisionOf(ticket.id),
    }));
    if (nowMs >= ticket.expiresMs) return decision ? show.expired(client) : show.expiredLogin(client, request);
    if (!isThisBrowser) return show.expired(client);
    if (decision) return show.message(400, { kind: decision === "declined" ? "declined" : "expired" }, client);

    if (username.trim() === "" || password === "") {
      return show.login(client, ticket, { status: 400, username, problem: { kind: "empty" } });
    }
    // Transaction, cookie and CSRF token all change at sign-in, so that values from before are useless (session fixation).
    const secret = newSecret("");
    try {
      const tenantId = String(client.tenantId);
      const attempt = { tenantId, name: username, password, source, disconnected, clientId: client.id };
      const signedIn = await identity.signIn(attempt, async (tx, user) => {
        if (client.kind === "enterprise" && !user.isAdmin) return undefined;
        const id = newOwnedSecret("", user.id);
        await tx.signIns.add({
          idHash: hashOf(id),
          loginId: ticket.id,
          secretHash: hashOf(secret),
          userId: user.id,
          clientId: client.id,
          request: JSON.stringify(request),
          expiresMs: (await tx.clock.nowMs()) + signInStepLifetimeMs,
        });
        return id;
      });
      if (signedIn !== undefined) {
        const location = `${show.path("terms")}?transaction=${signedIn}`;
        return { kind: "redirect", status: 303, location, browserSecret: secret, caller: callerOf(client) };
      }
      const location = show.redirectUrl(client, request, denied.notAdmin);
      return { kind: "redirect", status: 302, location, caller: callerOf(client) };
    } catch (error) {
      // Text that no name or password can hold is treated as wrong.
      if (error instanceof InvalidLogin || error instanceof BadParameter) {
        return show.login(client, ticket, { status: 401, username, problem: loginProblemOf(error) });
      }
      if (!(error instanceof TooManyRequests)) throw error;
      const { retryAfterSeconds } = error;
      const problem = { kind: "tooMany", retryAfterSeconds } as const;
      return { ...(await show.login(client, ticket, { status: 429, username, problem })), retryAfterSeconds };
    }
  };
  return { name: "login", method: "POST", path: authorizePaths.login, answer };
}
