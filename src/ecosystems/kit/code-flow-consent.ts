import type { IncomingMessage } from "node:http";
import { send } from "../../runtime/network/request.ts";
import type { CodeFlow } from "../code-flow.ts";
import type { Consent, ConsentAnswer, ConsentOutcome } from "../consent.ts";
import type { Credential } from "../credential.ts";
import { readSmallJson } from "./body.ts";
import { withDeadline } from "./deadline.ts";

/** Time limit for the exchange of a code. */
const answerLimitMs = 30_000;

/** Consent by an ordinary OAuth code flow (RFC 6749 4.1, with PKCE), at one address for all accounts. */
export function codeFlowConsent(flow: CodeFlow): Consent {
  return {
    asksForAddress: false,
    async begin({ redirectUri, state, codeChallenge }) {
      const url = new URL(flow.authUrl);
      const parameters = {
        response_type: "code",
        client_id: flow.clientId,
        state,
        redirect_uri: redirectUri,
        code_challenge: codeChallenge,
        code_challenge_method: "S256",
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return { url: url.href };
    },
    exchange: (answer, signal) => withDeadline(signal, answerLimitMs, (inTime) => exchange(flow, answer, inTime)),
  };
}

async function exchange(
  { tokenUrl, clientId, clientSecret }: CodeFlow,
  { code, redirectUri, codeVerifier }: ConsentAnswer,
  signal: AbortSignal,
): Promise<ConsentOutcome> {
  const form = {
    grant_type: "authorization_code",
    code,
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  };
  const body = String(new URLSearchParams(form));
  const headers = {
    "Content-Type": "application/x-www-form-urlencoded",
    "Content-Length": Buffer.byteLength(body),
    Accept: "application/json",
  };
  let response: IncomingMessage;
  try {
    response = await send(new URL(tokenUrl), { method: "POST", headers, body }, signal);
  } catch {
    // Node's errors may hold the bytes that were sent, and so the secret.
    return { state: "unanswered", detail: `nothing answers at ${tokenUrl}` };
  }
  const { statusCode = 0 } = response;
  if (statusCode >= 300 && statusCode < 400) {
    response.destroy();
    return {
      state: "unanswered",
      detail: `${tokenUrl} answered with a redirect, which was not followed, because the request carries a secret`,
    };
  }
  return outcomeOf(statusCode, await readSmallJson(response, signal));
}

/** Only a client error (4xx) refuses the code: after a server error another consent may succeed. */
function outcomeOf(statusCode: number, document: unknown): ConsentOutcome {
  const members = (typeof document === "object" && document !== null ? document : {}) as Record<string, unknown>;
  const credential = statusCode === 200 ? credentialFrom(members) : undefined;
  if (credential) return { state: "granted", credential };
  if (statusCode >= 400 && statusCode < 500 && statusCode !== 429) {
    const { error_description: words } = members;
    return {
      state: "refused",
      reason: typeof words === "string" && words ? words.slice(0, 200) : `it answered ${statusCode}`,
    };
  }
  return { state: "unanswered", detail: `it answered ${statusCode} without a token` };
}

function credentialFrom({ access_token: accessToken }: Readonly<Record<string, unknown>>): Credential | undefined {
  return typeof accessToken === "string" && /^[\x20-\x7e]{1,4096}$/.test(accessToken) ? { accessToken } : undefined;
}
