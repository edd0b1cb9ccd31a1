import { auditEntry } from "../../identity/audit.ts";
import { derivedSecret, isSame, keyOf, withOwner } from "../../identity/secrets.ts";
import { suspensionProblem } from "../../identity/suspension.ts";
import type { Transaction } from "../../store/seam.ts";
import type { SignInRow } from "../../store/tables/sign-ins.ts";
import type { Client } from "../clients.ts";
import { authorizePages } from "./authorize-pages.ts";
import { authorizePaths, callerOf, formOf } from "./browser.ts";
import { denied } from "./client-redirect.ts";
import type { AuthorizationRequest } from "./request.ts";
import { csrfOf, signInOf } from "./sign-in-transaction.ts";
import type { AuthorizeParts, AuthorizeStep } from "./step.ts";

/** Stores the user's decision, at most once, and redirects the browser to the client. */
export function decisionStep(parts: AuthorizeParts): AuthorizeStep {
  const { store, codeSeconds } = parts;
  const show = authorizePages(parts);
  const answer: AuthorizeStep["answer"] = async (sent, visit) => {
    const { transaction: signInId, csrf, decision, terms } = formOf(sent, ["transaction", "csrf", "decision", "terms"]);
    const { signIn, client: clientOfPage } = await signInOf(store, show, signInId, visit);
    if (!signIn || !isSame(csrf, csrfOf(signIn.browserSecret, signInId))) return show.expired(clientOfPage);
    const { row, client, request } = signIn;
    if (decision !== "accept" && decision !== "decline") {
      return show.message(400, { kind: "error", sentence: "Choose Accept or Decline." }, client);
    }
    // Derived from a secret that only this browser holds: a second click gets the same code, and it need not be stored.
    const code = withOwner(derivedSecret(signIn.browserSecret, `code ${signInId}`), row.userId);
    const choice: Choice = {
      isAccepted: decision === "accept",
      code,
      codeSeconds,
      source: visit.source,
      shownTermsMs: terms,
    };
    const result = await store.transaction((tx) => storeDecision(tx, row, client, request, choice));
    const caller = callerOf(client, row.userId);
    if ("newTerms" in result) {
      const location = `${show.path("terms")}?transaction=${encodeURIComponent(signInId)}`;
      return { kind: "redirect", status: 303, location, caller };
    }
    if ("page" in result) return show.message(400, { kind: result.page }, client);
    const location = show.redirectUrl(client, request, result.redirectWith);
    return { kind: "redirect", status: 302, location, caller };
  };
  return { name: "decision", method: "POST", path: authorizePaths.terms, answer };
}

interface Choice {
  readonly isAccepted: boolean;
  /** The code for the client if the user accepts. */
  readonly code: string;
  readonly codeSeconds: number;
  readonly source: string;
  /** The date of the terms on the page; empty for a page without terms. */
  readonly shownTermsMs: string;
}

type DecisionResult =
  /** The page did not show the present terms: they were set, replaced or removed while it was open. Show it again. */
  | { readonly newTerms: true }
  | { readonly redirectWith: Readonly<Record<string, string>> }
  | { readonly page: "expired" | "declined" | "accepted" };

/** Stores the decision. Idempotent until the code is redeemed; any other repetition gets a page that says why. */
async function storeDecision(
  tx: Pick<Transaction, "tenants" | "users" | "signIns" | "codes" | "audit" | "clock">,
  { userId, idHash }: SignInRow,
  { id: clientId, tenantId, kind }: Client,
  { redirectUri, isRedirectUriSent, challenge, scope = null }: AuthorizationRequest,
  { isAccepted, code, codeSeconds, source, shownTermsMs }: Choice,
): Promise<DecisionResult> {
  const nowMs = await tx.users.lock(userId);
  const user = await tx.users.byId(userId);
  const row = await tx.signIns.find({ ownerId: userId, hash: idHash });
  // A new password, a suspension, or the removal of the user, ends all sign-ins.
  if (nowMs === undefined || !user || !row || nowMs >= row.expiresMs || suspensionProblem(user))
    return { page: "expired" };
  if (kind === "enterprise" && !user.isAdmin) return { page: "expired" };
  const key = keyOf(code);
  if (row.decision === "declined") return isAccepted ? { page: "declined" } : { redirectWith: denied.declined };
  if (row.decision === "accepted") {
    const storedCode = await tx.codes.find(key);
    const isWaiting = storedCode?.grantId === null && nowMs < storedCode.expiresMs;
    return isAccepted && isWaiting ? { redirectWith: { code } } : { page: "accepted" };
  }
  // A double click on "Sign in" makes two sign-ins of one login page. Only one of them may be decided.
  if (await tx.signIns.decisionOf(row.loginId)) return { page: "expired" };
  const brand = isAccepted ? await tx.tenants.brand(tenantId) : undefined;
  if (isAccepted && String(brand?.termsMs ?? "") !== shownTermsMs) return { newTerms: true };
  const accepted = { termsVersion: brand?.termsVersion ?? null, termsMs: brand?.termsMs ?? null };
  await tx.signIns.decide(row, isAccepted ? "accepted" : "declined");
  const act = isAccepted ? "accepted" : "declined";
  const detail = { scope: scope ?? undefined, terms: accepted.termsVersion ?? undefined };
  await tx.audit.add(auditEntry({ act, tenantId, userId, clientId, source, detail }));
  if (!isAccepted) return { redirectWith: denied.declined };
  const expiresMs = nowMs + codeSeconds * 1_000;
  const { hash } = key;
  await tx.codes.add({
    hash,
    clientId,
    userId,
    redirectUri,
    isRedirectUriSent,
    challenge,
    scope,
    ...accepted,
    expiresMs,
  });
  return { redirectWith: { code } };
}
