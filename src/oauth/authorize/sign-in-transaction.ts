import { derivedSecret, hashOf, isSame, keyOf } from "../../identity/secrets.ts";
import { suspensionProblem } from "../../identity/suspension.ts";
import type { authorizePages } from "./authorize-pages.ts";
import type { Visit } from "./browser.ts";
import type { AuthorizationRequest } from "./request.ts";
import type { AuthorizeParts } from "./step.ts";

/**
 * Finds this browser's sign-in, decided or not. When it is not valid any more, `signIn` is undefined; `client` is still
 * returned if it is known, so that the error page can name it.
 */
export async function signInOf(
  store: AuthorizeParts["store"],
  { stillRegistered }: Pick<ReturnType<typeof authorizePages>, "stillRegistered">,
  transaction: string,
  { browserSecret }: Visit,
) {
  const found = await store.read(async (tx) => {
    const row = await tx.signIns.find(keyOf(transaction));
    const user = row && (await tx.users.byId(row.userId));
    const isOver = row && row.decision === null && (await tx.signIns.decisionOf(row.loginId)) !== undefined;
    return row && user && !suspensionProblem(user) && { row, user, isOver, nowMs: await tx.clock.nowMs() };
  });
  if (!found) return {};
  const { row, isOver, nowMs } = found;
  const request = JSON.parse(row.request) as AuthorizationRequest;
  const client = await stillRegistered(request);
  if (!client || browserSecret === undefined || isOver || nowMs >= row.expiresMs) return { client };
  if (!isSame(row.secretHash, hashOf(browserSecret))) return { client };
  return { client, signIn: { ...found, request, client, browserSecret } };
}

/** The CSRF token of the terms page. It is derived, so it need not be stored. */
export function csrfOf(browserSecret: string, transaction: string): string {
  return derivedSecret(browserSecret, `csrf ${transaction}`);
}
