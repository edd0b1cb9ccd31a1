import { isJsonObject } from "../../runtime/json/untrusted-json.ts";
import type { Credential, RenewalOutcome } from "../credential.ts";
import { accessIn, accessText } from "./address.ts";
import { errorIn, type FormAnswer, type PostForm } from "./form-post.ts";

export interface TokenParts {
  readonly post: PostForm;
  /** The store's clock. */
  readonly nowMs: () => number;
}

/**
 * Obtains a new access token with the refresh token, which stays the same. A long-lived token has no refresh token: only
 * its owner can replace it. The instance knows a client by its address (`clientId`). Never throws.
 */
export async function renewCredential(
  { post, nowMs }: TokenParts,
  credential: Credential,
  signal: AbortSignal,
): Promise<RenewalOutcome> {
  const { refreshToken, clientId } = credential;
  const url = accessIn(accessText(credential))?.url;
  if (refreshToken === undefined || typeof clientId !== "string" || !url) {
    return { state: "refused", reason: "the instance refused the token, and it can't be renewed" };
  }
  const form = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: clientId };
  const answer = await post({ url, path: "/auth/token", form }, signal);
  if (!answer) return { state: "unanswered", detail: "no answer" };
  // A refused token is never presented again: the instance bans an address that repeats it.
  if (refusals.has(answer.status) && errorIn(answer) !== undefined) {
    return { state: "refused", reason: `the instance no longer accepts the refresh token${wordIn(answer)}` };
  }
  const issued = issuedIn(answer, nowMs());
  if (!issued) return { state: "unanswered", detail: `the instance answered ${answer.status}` };
  return { state: "renewed", credential: { ...credential, ...issued } };
}

/** With an error code, these refuse the token. Without one they come from something before the instance, or are a ban. */
const refusals: ReadonlySet<number | undefined> = new Set([400, 401, 403]);

/** The error code in brackets. Any other text of a stranger is left out: it may hold the token. */
function wordIn(answer: FormAnswer): string {
  const error = errorIn(answer);
  return typeof error === "string" && /^[a-z_]{1,40}$/.test(error) ? ` (${error})` : "";
}

/**
 * Revokes the refresh token of a credential, and with it its access tokens. A long-lived token has none: only a person
 * can delete it, on the profile page of the instance. Never throws.
 */
export async function revokeCredential(
  post: PostForm,
  credential: Credential | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const url = credential && accessIn(accessText(credential))?.url;
  if (credential?.refreshToken === undefined || !url) return false;
  const form = { token: credential.refreshToken };
  return (await post({ url, path: "/auth/revoke", form }, signal))?.status === 200;
}

/** The tokens in an answer of the token endpoint; undefined when it has none. */
export function issuedIn({ status, body }: FormAnswer, nowMs: number): Credential | undefined {
  const {
    access_token: accessToken,
    refresh_token: refreshToken,
    expires_in: seconds,
  } = isJsonObject(body) ? body : {};
  if (status !== 200 || typeof accessToken !== "string" || accessToken === "") return undefined;
  return {
    accessToken,
    ...(typeof refreshToken === "string" && { refreshToken }),
    ...(typeof seconds === "number" && { expiresMs: nowMs + seconds * 1_000 }),
  };
}
