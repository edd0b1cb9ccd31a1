import { newSecret } from "../../identity/secrets.ts";
import { scopes, scopeText } from "../../model/scopes.ts";
import { authorizePages } from "./authorize-pages.ts";
import { authorizePaths, signInStepLifetimeMs } from "./browser.ts";
import { clientRedirectUrl } from "./client-redirect.ts";
import { newLoginTicket } from "./login-ticket.ts";
import { RefusedRequest, readAuthorizationRequest, UnsafeRequest } from "./request.ts";
import type { AuthorizeParts, AuthorizeStep } from "./step.ts";

/** Checks the client's authorization request and shows the login page of its tenant. */
export function requestStep(parts: AuthorizeParts): AuthorizeStep {
  const { store, clients, issuer } = parts;
  const show = authorizePages(parts);
  const answer: AuthorizeStep["answer"] = async (query, visit) => {
    try {
      const { client, request } = await readAuthorizationRequest(query, (id) => clients.findClient(id));
      // An existing cookie is kept: a second login page in another tab must not invalidate the first.
      const browserSecret = isSecret(visit.browserSecret) ? visit.browserSecret : newSecret("");
      const { nowMs, areScopesKept } = await store.read(async (tx) => ({
        nowMs: await tx.clock.nowMs(),
        areScopesKept: !store.isShared || (await tx.nodes.doAllEnforceScopes()),
      }));
      // A node of the previous version would turn the user's decision into a grant of everything. While one is alive, the
      // page must ask for everything.
      const shownRequest = areScopesKept || request.scope === null ? request : { ...request, scope: scopeText(scopes) };
      const ticket = newLoginTicket(shownRequest, browserSecret, nowMs + signInStepLifetimeMs);
      return { ...(await show.login(client, ticket)), browserSecret };
    } catch (error) {
      if (error instanceof UnsafeRequest) return show.message(400, { kind: "error", sentence: error.message });
      if (!(error instanceof RefusedRequest)) throw error;
      const { redirectUri, state } = error;
      const refused = { error: error.error, error_description: error.message, state };
      return { kind: "redirect", status: 302, location: clientRedirectUrl(redirectUri, issuer(), refused) };
    }
  };
  return { name: "request", method: "GET", path: authorizePaths.authorize, answer };
}

function isSecret(text: string | undefined): text is string {
  return text !== undefined && /^[A-Za-z0-9_-]{43}$/.test(text);
}
