import { authorizePages } from "./authorize-pages.ts";
import { authorizePaths, formOf } from "./browser.ts";
import { openRequest } from "./login-ticket.ts";
import type { AuthorizeParts, AuthorizeStep } from "./step.ts";

/** Shows the login page of the client's tenant, until the sealed request in its address expires. */
export function loginPageStep(parts: AuthorizeParts): AuthorizeStep {
  const { store, sealer } = parts;
  const show = authorizePages(parts);
  const answer: AuthorizeStep["answer"] = async (query, visit) => {
    const ticket = openRequest(sealer, formOf(query, ["request"]).request);
    const client = ticket && (await show.stillRegistered(ticket.request));
    if (!ticket || !client) return show.expired();
    const nowMs = await store.read((tx) => tx.clock.nowMs());
    if (nowMs >= ticket.expiresMs) return show.expiredLogin(client, ticket.request);
    return show.newLogin(client, ticket, visit);
  };
  return { name: "loginPage", method: "GET", path: authorizePaths.login, answer };
}
