import { type Runtime, within } from "../../runtime/runtime.ts";
import type { Consent, ConsentAnswer, ConsentOutcome } from "../consent.ts";
import type { Credential, RenewalOutcome } from "../credential.ts";
import type { CallJson, JsonAnswer } from "../kit/json-call.ts";
import type { GoogleConfiguration } from "./configuration.ts";

export interface TokenParts {
  readonly configuration: Pick<
    GoogleConfiguration,
    "projectId" | "clientId" | "clientSecret" | "authUrl" | "tokenUrl" | "revokeUrl"
  >;
  /** Its clock is the store's, by which credentials expire. */
  readonly runtime: Runtime;
  readonly call: CallJson;
  /** The time limit for the exchange of a code. */
  readonly answerLimitMs: number;
}

const scope = "https://www.googleapis.com/auth/sdm.service";

/** The owner chooses home and devices on Google's page, which sends a code to Breezeway's callback. */
export function googleConsent(parts: TokenParts): Consent {
  const { configuration, runtime, answerLimitMs } = parts;
  const { projectId, clientId, authUrl } = configuration;
  return {
    asksForAddress: false,
    async begin({ redirectUri, state }) {
      const query = new URLSearchParams({
        redirect_uri: redirectUri,
        // Google issues a refresh token only with these two.
        access_type: "offline",
        prompt: "consent",
        client_id: clientId,
        response_type: "code",
        scope,
        state,
      });
      return { url: `${authUrl}/${projectId}/auth?${query}` };
    },
    exchange: (answer, signal) =>
      within(runtime, answerLimitMs, signal, (inTime) => exchangeCode(parts, answer, inTime)),
  };
}

async function exchangeCode(
  parts: TokenParts,
  { code, redirectUri }: ConsentAnswer,
  signal: AbortSignal,
): Promise<ConsentOutcome> {
  const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
  const answer = await askForTokens(parts, form, signal);
  const read = readTokens(answer, parts.runtime.nowMs());
  if (read.state !== "issued") return read;
  // An owner who withholds the permission is still sent back with a code.
  const granted = answer.isAnswered ? answer.document.scope : undefined;
  if (typeof granted === "string" && !granted.split(" ").includes(scope)) {
    return { state: "refused", reason: "the permission to see and control devices was not granted at Google" };
  }
  if (read.credential.refreshToken !== undefined) return { state: "granted", credential: read.credential };
  return { state: "refused", reason: "Google issued no refresh token" };
}

/** Obtains a new access token. The refresh token usually stays the same. Never throws. */
export async function renewCredential(
  parts: TokenParts,
  credential: Credential,
  signal: AbortSignal,
): Promise<RenewalOutcome> {
  const { refreshToken } = credential;
  if (refreshToken === undefined) return { state: "refused", reason: "the credential has no refresh token" };
  const form = { grant_type: "refresh_token", refresh_token: refreshToken };
  const read = readTokens(await askForTokens(parts, form, signal), parts.runtime.nowMs());
  return read.state === "issued" ? { state: "renewed", credential: { ...credential, ...read.credential } } : read;
}

/** Ends the account's consent at Google. Never throws. */
export async function revokeToken(
  { configuration, call }: TokenParts,
  token: string,
  signal: AbortSignal,
): Promise<boolean> {
  const answer = await call({ method: "POST", url: configuration.revokeUrl, form: { token } }, signal);
  if (!answer.isAnswered) return false;
  // Google answers 400 for a token that it no longer knows.
  return answer.status === 200 || (answer.status === 400 && answer.document.error === "invalid_token");
}

function askForTokens(
  { configuration, call }: TokenParts,
  form: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<JsonAnswer> {
  const { clientId, clientSecret, tokenUrl } = configuration;
  const client = { client_id: clientId, client_secret: clientSecret };
  return call({ method: "POST", url: tokenUrl, form: { ...client, ...form } }, signal);
}

type Issued =
  | { readonly state: "issued"; readonly credential: Credential }
  | { readonly state: "refused"; readonly reason: string }
  | { readonly state: "unanswered"; readonly detail: string };

/** Only `invalid_grant` says that the owner must consent again. All other errors may be those of this deployment. */
function readTokens(answer: JsonAnswer, nowMs: number): Issued {
  if (!answer.isAnswered) return { state: "unanswered", detail: answer.detail };
  const { status, document } = answer;
  if (status === 400 && document.error === "invalid_grant") {
    return { state: "refused", reason: "Google no longer accepts the account's consent (invalid_grant)" };
  }
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = document;
  if (status !== 200 || typeof accessToken !== "string" || accessToken === "") {
    const { error } = document;
    const name = typeof error === "string" && /^[a-z_]{1,40}$/.test(error) ? ` ${error}` : "";
    return { state: "unanswered", detail: `Google answered ${status}${name}` };
  }
  return {
    state: "issued",
    credential: {
      accessToken,
      ...(typeof refreshToken === "string" && refreshToken !== "" && { refreshToken }),
      ...(typeof seconds === "number" && seconds > 0 && { expiresMs: nowMs + seconds * 1_000 }),
    },
  };
}
