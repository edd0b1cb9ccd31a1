import { type AddressRules, lookupAmong, reachableAddresses } from "../../runtime/network/public-address.ts";
import type { Credential, RenewalOutcome } from "../credential.ts";
import { readBody } from "../kit/body.ts";
import { isJsonObject, parseJson } from "../kit/parse-json.ts";
import { send } from "../kit/request.ts";
import { accessIn, accessText } from "./address.ts";

export interface RenewalParts {
  readonly rules: AddressRules;
  readonly nowMs: () => number;
}

/**
 * Obtains a new access token with the refresh token, which stays the same. A long-lived token has no refresh token: only
 * its owner can replace it. The instance knows a client by its address (`clientId`). Never throws.
 */
export async function renewCredential(
  { rules, nowMs }: RenewalParts,
  credential: Credential,
  signal: AbortSignal,
): Promise<RenewalOutcome> {
  const { refreshToken, clientId } = credential;
  const access = accessIn(accessText(credential));
  if (refreshToken === undefined || typeof clientId !== "string" || !access) {
    return { state: "refused", reason: "the instance refused the token, and it can't be renewed" };
  }
  const { url } = access;
  if (url.protocol !== "https:" && !rules.allowsPrivate) return unanswered("the address is not https");
  try {
    const lookup = lookupAmong(await reachableAddresses(url.hostname, rules, signal));
    const form = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId };
    const body = new URLSearchParams(form).toString();
    const headers = { "Content-Type": "application/x-www-form-urlencoded", "Content-Length": Buffer.byteLength(body) };
    const tokenUrl = new URL(`${url.pathname.replace(/\/$/, "")}/auth/token`, url);
    const response = await send(tokenUrl, { method: "POST", headers, body, lookup }, signal);
    return outcomeOf(response.statusCode, parseJson((await readBody(response, signal)) ?? ""), credential, nowMs());
  } catch {
    // The cause is left out: it may quote the address.
    return unanswered("no answer");
  }
}

function outcomeOf(status: number | undefined, answer: unknown, credential: Credential, nowMs: number): RenewalOutcome {
  const { access_token: accessToken, expires_in: seconds, error } = isJsonObject(answer) ? answer : {};
  if (status === 400 && error === "invalid_grant") {
    return { state: "refused", reason: "the instance no longer accepts the refresh token" };
  }
  if (status !== 200 || typeof accessToken !== "string") return unanswered(`the instance answered ${status}`);
  const expiresMs = typeof seconds === "number" ? { expiresMs: nowMs + seconds * 1_000 } : {};
  return { state: "renewed", credential: { ...credential, accessToken, ...expiresMs } };
}

function unanswered(detail: string): RenewalOutcome {
  return { state: "unanswered", detail };
}
