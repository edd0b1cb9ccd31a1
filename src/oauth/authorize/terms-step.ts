import { storedScopes } from "../../model/scopes.ts";
import { termsPage } from "../pages/terms-page.ts";
import { authorizePages, returnsTo } from "./authorize-pages.ts";
import { addresses, formOf } from "./browser.ts";
import { csrfOf, signInOf } from "./sign-in-transaction.ts";
import type { AuthorizeParts, AuthorizeStep } from "./step.ts";

/** Shows the terms to a user who has signed in. */
export function termsStep(parts: AuthorizeParts): AuthorizeStep {
  const { store, identity } = parts;
  const show = authorizePages(parts);
  const answer: AuthorizeStep["answer"] = async (sent, visit) => {
    const { transaction } = formOf(sent, ["transaction"]);
    const { signIn, client: clientOfPage } = await signInOf(store, show, transaction, visit);
    if (!signIn) return show.expired(clientOfPage);
    const { row, user, client, request, browserSecret } = signIn;
    if (row.decision) return show.message(400, { kind: row.decision === "declined" ? "declined" : "done" }, client);
    const { terms } = await identity.brandOf(client.tenantId);
    const page = termsPage({
      brand: await show.brandOf(client.tenantId),
      clientName: client.name,
      returnsTo: returnsTo(request),
      userName: user.name,
      covers: client.kind === "enterprise" ? "tenant" : "user",
      scopes: storedScopes(request.scope ?? null),
      terms,
      action: show.address("terms"),
      hidden: { transaction, csrf: csrfOf(browserSecret, transaction) },
    });
    return { kind: "page", status: 200, page };
  };
  return { name: "terms", method: "GET", path: addresses.terms, answer };
}
