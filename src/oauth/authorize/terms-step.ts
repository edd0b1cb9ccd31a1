import { auditEntry } from "../../identity/audit.ts";
import { derivedSecret, hashOf, isSame, keyOf, withOwner } from "../../identity/secrets.ts";
import { storedScopes } from "../../model/scopes.ts";
import type { Transaction } from "../../store/seam.ts";
import type { SignInRow } from "../../store/tables/sign-ins.ts";
import type { Client } from "../clients.ts";
import { termsPage } from "../pages/terms-page.ts";
import type { Authorize, AuthorizeParts } from "./authorize.ts";
import type { Visit } from "./browser.ts";
import type { AuthorizationRequest } from "./request.ts";
import { denied, returnAddress } from "./returning.ts";
import { returnsTo, showingFor } from "./showing.ts";

/** Shows the terms to who has signed in, takes the decision, once, and sends the browser back to the client. */
export function termsStep(parts: AuthorizeParts): Pick<Authorize, "showTerms" | "decide"> {
  const { store, identity, issuer, codeSeconds } = parts;
  const show = showingFor(parts);

  /** The sign-in that this very browser made, whatever became of it; else at least the client it was meant for. */
  async function signInOf(transaction: string, { browserSecret }: Visit) {
    const found = await store.read(async (tx) => {
      const row = await tx.signIns.find(keyOf(transaction));
      const user = row && (await tx.users.byId(row.userId));
      const isOver = row && row.decision === null && (await tx.signIns.decisionOf(row.loginId)) !== undefined;
      return row && user && { row, user, isOver, nowMs: await tx.clock.nowMs() };
    });
    if (!found) return {};
    const { row, isOver, nowMs } = found;
    const request = JSON.parse(row.request) as AuthorizationRequest;
    const client = await show.stillRegistered(request);
    if (!client || browserSecret === undefined || isOver || nowMs >= row.expiresMs) return { client };
    if (!isSame(row.secretHash, hashOf(browserSecret))) return { client };
    return { client, signIn: { ...found, request, client, browserSecret } };
  }

  return {
    async showTerms(transaction, visit) {
      const { signIn, client: meantFor } = await signInOf(transaction, visit);
      if (!signIn) return show.expired(meantFor);
      const { row, user, client, request, browserSecret } = signIn;
      if (row.decision) return show.message(400, { kind: row.decision === "declined" ? "declined" : "done" }, client);
      const { terms } = await identity.brandOf(client.tenantId);
      const page = termsPage({
        brand: await show.brandOf(client.tenantId),
        clientName: client.name,
        returnsTo: returnsTo(request),
        userName: user.name,
        reach: client.kind === "enterprise" ? "tenant" : "user",
        scopes: storedScopes(request.scope ?? null),
        terms,
        action: show.address("terms"),
        hidden: { transaction, csrf: csrfOf(browserSecret, transaction) },
      });
      return { kind: "page", status: 200, page };
    },

    async decide({ transaction = "", csrf = "", decision }, visit) {
      const { signIn, client: meantFor } = await signInOf(transaction, visit);
      if (!signIn || !isSame(csrf, csrfOf(signIn.browserSecret, transaction))) return show.expired(meantFor);
      const { row, client, request } = signIn;
      if (decision !== "accept" && decision !== "decline") {
        return show.message(400, { kind: "error", sentence: "Choose Accept or Decline." }, client);
      }
      // Derived from what only this browser holds, so that a second click gets the same code and nobody has to keep it.
      const code = withOwner(derivedSecret(signIn.browserSecret, `code ${transaction}`), row.userId);
      const choice: Choice = { isAccepted: decision === "accept", code, codeSeconds, source: visit.source };
      const settled = await store.transaction((tx) => settle(tx, row, client, request, choice));
      if ("page" in settled) return show.message(400, { kind: settled.page }, client);
      const answer = { ...settled.goBackWith, state: request.state };
      return { kind: "redirect", status: 302, location: returnAddress(request.redirectUri, issuer(), answer) };
    },
  };
}

interface Choice {
  readonly isAccepted: boolean;
  /** What the client gets if it is accepted. */
  readonly code: string;
  readonly codeSeconds: number;
  readonly source: string;
}

type Settled =
  | { readonly goBackWith: Readonly<Record<string, string>> }
  | { readonly page: "expired" | "declined" | "done" };

/** Takes the decision. The same once more answers the same, while the code still waits; anything else is told here. */
async function settle(
  tx: Pick<Transaction, "users" | "signIns" | "codes" | "audit" | "clock">,
  { userId, idHash }: SignInRow,
  { id: clientId, tenantId, kind }: Client,
  { redirectUri, isRedirectUriSent, challenge, scope = null }: AuthorizationRequest,
  { isAccepted, code, codeSeconds, source }: Choice,
): Promise<Settled> {
  const nowMs = await tx.users.lock(userId);
  const user = await tx.users.byId(userId);
  const row = await tx.signIns.find({ ownerId: userId, hash: idHash });
  // A new password, or the user's removal, has ended all sign-ins.
  if (nowMs === undefined || !user || !row || nowMs >= row.expiresMs) return { page: "expired" };
  if (kind === "enterprise" && !user.isAdmin) return { page: "expired" };
  const key = keyOf(code);
  if (row.decision === "declined") return isAccepted ? { page: "declined" } : { goBackWith: denied.declined };
  if (row.decision === "accepted") {
    const given = await tx.codes.find(key);
    const isWaiting = given?.grantId === null && nowMs < given.expiresMs;
    return isAccepted && isWaiting ? { goBackWith: { code } } : { page: "done" };
  }
  // Two clicks on Sign in have made two of them: one login page, one decision.
  if (await tx.signIns.decisionOf(row.loginId)) return { page: "expired" };
  await tx.signIns.decide(row, isAccepted ? "accepted" : "declined");
  const act = isAccepted ? "accepted" : "declined";
  await tx.audit.add(auditEntry({ act, tenantId, userId, clientId, source, detail: { scope: scope ?? undefined } }));
  if (!isAccepted) return { goBackWith: denied.declined };
  const expiresMs = nowMs + codeSeconds * 1_000;
  const { hash } = key;
  await tx.codes.add({ hash, clientId, userId, redirectUri, isRedirectUriSent, challenge, scope, expiresMs });
  return { goBackWith: { code } };
}

function csrfOf(browserSecret: string, transaction: string): string {
  return derivedSecret(browserSecret, `csrf ${transaction}`);
}
