import type { CallMaker } from "../maker-call.ts";
import type { AlexaSettings } from "./settings.ts";

/** The tokens for messages about one user, as Login with Amazon issues them. */
export interface AlexaCredential {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresMs: number;
}

/**
 * Why there are no tokens. `ended`: the user has disabled the skill. `wrongClient`: Amazon does not accept the skill's
 * messaging credentials. `failed`: there was no usable answer; a later attempt may succeed.
 */
export interface NoTokens {
  readonly reason: "ended" | "wrongClient" | "failed";
  /** For operators; without a token. */
  readonly text: string;
}

export interface LoginTokenParts {
  readonly call: CallMaker;
  readonly nowMs: () => number;
}

/** The token endpoint of Login with Amazon. */
export interface LoginTokens {
  /** Exchanges the code of a grant. A code can be exchanged once. */
  exchange(code: string, settings: AlexaSettings, signal: AbortSignal): Promise<AlexaCredential | NoTokens>;
  renew(refreshToken: string, settings: AlexaSettings, signal: AbortSignal): Promise<AlexaCredential | NoTokens>;
}

export function hasTokens(result: AlexaCredential | NoTokens): result is AlexaCredential {
  return "accessToken" in result;
}

export function loginTokens({ call, nowMs }: LoginTokenParts): LoginTokens {
  const ask = async (
    grant: Readonly<Record<string, string>>,
    { messagingClientId, messagingClientSecret, tokenUrl }: AlexaSettings,
    signal: AbortSignal,
  ): Promise<AlexaCredential | NoTokens> => {
    const form = { ...grant, client_id: messagingClientId, client_secret: messagingClientSecret };
    const answer = await call({ method: "POST", url: tokenUrl, form }, signal);
    if (!answer.isAnswered) return { reason: "failed", text: `Login with Amazon: ${answer.detail}` };
    const { status, document } = answer;
    if (status !== 200) return refusal(status, document.error);
    const { access_token: accessToken, refresh_token: newRefreshToken, expires_in: seconds } = document;
    // A renewal may leave the refresh token as it is.
    const refreshToken = newRefreshToken ?? grant.refresh_token;
    if (!isText(accessToken) || !isText(refreshToken) || typeof seconds !== "number" || !(seconds > 0)) {
      return { reason: "failed", text: "Login with Amazon answered 200 without usable tokens" };
    }
    return { accessToken, refreshToken, expiresMs: nowMs() + seconds * 1_000 };
  };
  return {
    exchange: (code, settings, signal) => ask({ grant_type: "authorization_code", code }, settings, signal),
    renew: (refreshToken, settings, signal) =>
      ask({ grant_type: "refresh_token", refresh_token: refreshToken }, settings, signal),
  };
}

function refusal(status: number, error: unknown): NoTokens {
  const text = `Login with Amazon answered ${status}${knownErrors.includes(error) ? ` ${error}` : ""}`;
  if (error === "invalid_grant") return { reason: "ended", text };
  const isClient = error === "invalid_client" || error === "unauthorized_client";
  return { reason: isClient ? "wrongClient" : "failed", text };
}

/** Errors of RFC 6749. Other words of an answer are not repeated: they might quote a token. */
const knownErrors: readonly unknown[] = [
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
  "server_error",
  "temporarily_unavailable",
];

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
