import { scopes, scopeText } from "../../model/scopes.ts";
import { authorizePages } from "./authorize-pages.ts";
import { authorizePaths, callerOf, signInStepLifetimeMs } from "./browser.ts";
import { sealRequest } from "./login-ticket.ts";
import { RefusedRequest, readAuthorizationRequest, UnsafeRequest } from "./request.ts";
import type { AuthorizeParts, AuthorizeStep } from "./step.ts";

/** Checks the client's authorization request and redirects to the login page, whose address carries it sealed. */
export function requestStep(parts: AuthorizeParts): AuthorizeStep {
  const { store, clients, sealer } = parts;
  const show = authorizePages(parts);
  const answer: AuthorizeStep["answer"] = async (query, visit) => {
    try {
      const { client, request } = await readAuthorizationRequest(query, (id) => clients.findClient(id));
      const { nowMs, hasLoginPage, areScopesKept } = await store.read(async (tx) => {
        const hasLoginPage = !store.isShared || (await tx.nodes.doAllShowLoginPage());
        const areScopesKept = hasLoginPage || (await tx.nodes.doAllEnforceScopes());
        return { nowMs: await tx.clock.nowMs(), hasLoginPage, areScopesKept };
      });
      // A node of the previous version would turn the user's decision into a grant of everything. While one is alive, the
      // page must ask for everything.
      const shownRequest = areScopesKept || request.scope === null ? request : { ...request, scope: scopeText(scopes) };
      const ticket = { request: shownRequest, expiresMs: nowMs + signInStepLifetimeMs };
      // A load balancer may send the next request to a node of the previous version, which has no such page.
      if (!hasLoginPage) return await show.newLogin(client, ticket, visit);
      const location = `${show.path("login")}?request=${sealRequest(sealer, ticket)}`;
      return { kind: "redirect", status: 302, location, caller: callerOf(client) };
    } catch (error) {
      if (error instanceof UnsafeRequest) return show.message(400, { kind: "error", sentence: error.message });
      if (!(error instanceof RefusedRequest)) throw error;
      const refused = { error: error.error, error_description: error.message };
      return { kind: "redirect", status: 302, location: show.redirectUrl(error.client, error, refused) };
    }
  };
  return { name: "request", method: "GET", path: authorizePaths.authorize, answer };
}
