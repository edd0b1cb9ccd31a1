import { hashOf, newCredential, newSecret } from "../../identity/secrets.ts";
import { BadParameter, InvalidLogin, TooManyRequests } from "../../model/errors.ts";
import { addresses, formOf, transactionMs } from "./browser.ts";
import { isOfBrowser, openTicket } from "./login-ticket.ts";
import { denied, returnAddress } from "./returning.ts";
import { showingFor } from "./showing.ts";
import type { AuthorizeParts, AuthorizeStep } from "./step.ts";

/**
 * Takes name and password and leads to the terms. It may come twice (a double click): as long as nothing is decided,
 * each right password leads on.
 */
export function loginStep(parts: AuthorizeParts): AuthorizeStep {
  const { store, identity, sealer, issuer } = parts;
  const show = showingFor(parts);
  const answer: AuthorizeStep["answer"] = async (sent, { browserSecret, source, disconnected }) => {
    const { transaction, csrf, username, password } = formOf(sent, ["transaction", "csrf", "username", "password"]);
    const ticket = openTicket(sealer, transaction, csrf);
    const client = ticket && (await show.stillRegistered(ticket.request));
    if (!ticket || !client) return show.expired();
    const { request } = ticket;
    const { nowMs, isThisBrowser, decision } = await store.read(async (tx) => ({
      nowMs: await tx.clock.nowMs(),
      // The answer to a first click has changed the cookie before the second was sent: it is this browser all the same.
      isThisBrowser:
        browserSecret !== undefined &&
        (isOfBrowser(ticket, browserSecret) || (await tx.signIns.isOfBrowser(ticket.id, hashOf(browserSecret)))),
      decision: await tx.signIns.decisionOf(ticket.id),
    }));
    if (!isThisBrowser || nowMs >= ticket.expiresMs) return show.expired(client);
    if (decision) return show.message(400, { kind: decision === "declined" ? "declined" : "expired" }, client);

    if (username.trim() === "" || password === "") {
      return show.login(client, ticket, { status: 400, username, problem: { kind: "empty" } });
    }
    // Transaction, cookie and the form's token all change here, so that whoever knew them before knows nothing now.
    const secret = newSecret("");
    try {
      const tenantId = String(client.tenantId);
      const attempt = { tenantId, name: username, password, source, disconnected, clientId: client.id };
      const signedIn = await identity.signIn(attempt, async (tx, user) => {
        if (client.kind === "enterprise" && !user.isAdmin) return undefined;
        const id = newCredential("", user.id);
        await tx.signIns.add({
          idHash: hashOf(id),
          loginId: ticket.id,
          secretHash: hashOf(secret),
          userId: user.id,
          clientId: client.id,
          request: JSON.stringify(request),
          expiresMs: (await tx.clock.nowMs()) + transactionMs,
        });
        return id;
      });
      if (signedIn !== undefined) {
        const location = `${show.address("terms")}?transaction=${signedIn}`;
        return { kind: "redirect", status: 303, location, browserSecret: secret };
      }
      const refused = { ...denied.notAdmin, state: request.state };
      return { kind: "redirect", status: 302, location: returnAddress(request.redirectUri, issuer(), refused) };
    } catch (error) {
      // Text that nobody's name or password can hold is as wrong as any other.
      if (error instanceof InvalidLogin || error instanceof BadParameter) {
        return show.login(client, ticket, { status: 401, username, problem: { kind: "wrong" } });
      }
      if (!(error instanceof TooManyRequests)) throw error;
      const { retryAfterSeconds } = error;
      const problem = { kind: "tooMany", retryAfterSeconds } as const;
      return { ...(await show.login(client, ticket, { status: 429, username, problem })), retryAfterSeconds };
    }
  };
  return { name: "login", method: "POST", path: addresses.login, answer };
}
