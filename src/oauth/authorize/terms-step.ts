import { storedScopes } from "../../model/scopes.ts";
import type { GrantRow } from "../../store/tables/grants.ts";
import { accountPath } from "../../web/account-address.ts";
import { basePath } from "../pages/page-brand.ts";
import { termsPage } from "../pages/terms-page.ts";
import { authorizePages, returnsTo } from "./authorize-pages.ts";
import { authorizePaths, callerOf, formOf } from "./browser.ts";
import { csrfOf, signInOf } from "./sign-in-transaction.ts";
import type { AuthorizeParts, AuthorizeStep } from "./step.ts";

/** Shows the terms to a user who has signed in. */
export function termsStep(parts: AuthorizeParts): AuthorizeStep {
  const { store, identity, issuer } = parts;
  const show = authorizePages(parts);
  const answer: AuthorizeStep["answer"] = async (sent, visit) => {
    const { transaction } = formOf(sent, ["transaction"]);
    const { signIn, client: clientOfPage } = await signInOf(store, show, transaction, visit);
    if (!signIn) return show.expired(clientOfPage);
    const { row, user, client, request, browserSecret } = signIn;
    if (row.decision) return show.message(400, { kind: row.decision }, client);
    const { terms } = await identity.brandOf(client.tenantId);
    const grants = terms ? await store.read((tx) => tx.grants.ofUser(user.id)) : [];
    const page = termsPage({
      brand: await show.brandOf(client.tenantId),
      accountUrl: basePath(issuer()) + accountPath(client.tenantId),
      clientName: client.name,
      returnsTo: returnsTo(request),
      userName: user.name,
      covers: client.kind === "enterprise" ? "tenant" : "user",
      scopes: storedScopes(request.scope ?? null),
      terms: terms && { ...terms, acceptedBefore: acceptedBefore(grants, terms.dateMs) },
      action: show.path("terms"),
      hidden: { transaction, csrf: csrfOf(browserSecret, transaction), ...(terms && { terms: String(terms.dateMs) }) },
    });
    return { kind: "page", status: 200, page, caller: callerOf(client, user.id) };
  };
  return { name: "terms", method: "GET", path: authorizePaths.terms, answer };
}

/** The version that the user accepted last, if it is older; undefined otherwise. */
function acceptedBefore(grants: readonly GrantRow[], dateMs: number): string | undefined {
  const [last] = grants.toSorted((a, b) => (b.termsMs ?? 0) - (a.termsMs ?? 0));
  return last && (last.termsMs ?? 0) < dateMs ? (last.termsVersion ?? undefined) : undefined;
}
