import { derivedSecret, hashOf, isSame, keyOf } from "../../identity/secrets.ts";
import type { Visit } from "./browser.ts";
import type { AuthorizationRequest } from "./request.ts";
import type { showingFor } from "./showing.ts";
import type { AuthorizeParts } from "./step.ts";

/**
 * The sign-in that this browser made, whether or not it is decided. Where there is none, at least the client for which it
 * was meant, so that the page about it can name the client.
 */
export async function signInOf(
  store: AuthorizeParts["store"],
  { stillRegistered }: Pick<ReturnType<typeof showingFor>, "stillRegistered">,
  transaction: string,
  { browserSecret }: Visit,
) {
  const found = await store.read(async (tx) => {
    const row = await tx.signIns.find(keyOf(transaction));
    const user = row && (await tx.users.byId(row.userId));
    const isOver = row && row.decision === null && (await tx.signIns.decisionOf(row.loginId)) !== undefined;
    return row && user && { row, user, isOver, nowMs: await tx.clock.nowMs() };
  });
  if (!found) return {};
  const { row, isOver, nowMs } = found;
  const request = JSON.parse(row.request) as AuthorizationRequest;
  const client = await stillRegistered(request);
  if (!client || browserSecret === undefined || isOver || nowMs >= row.expiresMs) return { client };
  if (!isSame(row.secretHash, hashOf(browserSecret))) return { client };
  return { client, signIn: { ...found, request, client, browserSecret } };
}

/** The token of the terms page's form: derived, so that it needs no place in the store. */
export function csrfOf(browserSecret: string, transaction: string): string {
  return derivedSecret(browserSecret, `csrf ${transaction}`);
}
