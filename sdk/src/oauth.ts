import { readObject } from "./adaptor.ts";
import { AuthorizationRefused, InvalidArgument, UnexpectedAnswer } from "./errors.ts";
import { randomText, sha256Text } from "./randomness.ts";
import { refusalInJson } from "./refusals.ts";
import { type CallOptions, Transport } from "./transport.ts";

/** A client of the authorization server. */
export interface OAuthOptions {
  /** Where the service is. */
  readonly baseUrl: string;
  readonly clientId: string;
  /** Confidential: it belongs on a server of yours, not into a page. */
  readonly clientSecret: string;
  /** Where the user comes back to; may be left out when exactly one is registered. */
  readonly redirectUri?: string | undefined;
  /** In the place of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** How long an answer may take, 60 seconds unless said otherwise. */
  readonly timeoutMs?: number | undefined;
  /** How often a call is sent again when it failed and repeating it is safe. 2 by default. */
  readonly retries?: number | undefined;
}

/** An authorization that has begun: keep all but the address until the user comes back, each user's apart. */
export interface Authorization {
  /** Where to send the user's browser. */
  readonly url: string;
  readonly state: string;
  readonly codeVerifier: string;
}

/** What the authorization server gave. */
export interface Tokens {
  readonly accessToken: string;
  /** Undefined for a client that speaks for itself. */
  readonly refreshToken: string | undefined;
  /** Until when the access token is good, by this machine's clock, in milliseconds. */
  readonly expiresAtMs: number;
}

/** The OAuth 2.0 authorization-code flow with PKCE and state (interface 4.1). */
export class OAuthClient {
  readonly #options: OAuthOptions;
  readonly #baseUrl: string;
  readonly #transport: Transport;

  constructor(options: OAuthOptions) {
    this.#options = options;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.#transport = new Transport(options);
  }

  /** Makes the address to which the user's browser goes, with a fresh state and PKCE challenge. */
  async begin(): Promise<Authorization> {
    const [state, codeVerifier] = [await randomText(), await randomText()];
    const { clientId, redirectUri } = this.#options;
    const question = new URLSearchParams({
      response_type: "code",
      client_id: clientId,
      state,
      code_challenge: await sha256Text(codeVerifier),
      code_challenge_method: "S256",
      ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
    });
    return { url: `${this.#baseUrl}/oauth2/authorize?${question}`, state, codeVerifier };
  }

  /** Takes the address to which the user came back, checks that it answers this authorization, and redeems its code. */
  async finish(
    callback: string | URL,
    { state, codeVerifier }: Pick<Authorization, "state" | "codeVerifier">,
    options: CallOptions = {},
  ): Promise<Tokens> {
    const given = readCallback(callback, state);
    const issuer = parametersOf(callback).get("iss");
    if (issuer !== null && issuer !== this.#baseUrl) {
      throw new AuthorizationRefused("wrong_issuer", "The answer comes from another authorization server.");
    }
    return this.exchange(given, codeVerifier, options);
  }

  /** Redeems a code: once, and within a minute. Never repeated, since a second time would end all that it gave. */
  exchange(code: string, codeVerifier: string | undefined, options: CallOptions = {}): Promise<Tokens> {
    const { redirectUri } = this.#options;
    const parameters = {
      grant_type: "authorization_code",
      code,
      ...(codeVerifier !== undefined && { code_verifier: codeVerifier }),
      ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
    };
    return this.#tokens(parameters, false, options);
  }

  /** Gets a new pair for a refresh token. Safe to repeat: the old token is good until the new one has been used. */
  async refresh(refreshToken: string, options: CallOptions = {}): Promise<Tokens> {
    const tokens = await this.#tokens({ grant_type: "refresh_token", refresh_token: refreshToken }, true, options);
    return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
  }

  /** A token with which an enterprise client speaks for its tenant. */
  asItself(options: CallOptions = {}): Promise<Tokens> {
    return this.#tokens({ grant_type: "client_credentials" }, true, options);
  }

  /** Ends the access that either token of a pair stands for. */
  async revoke(token: string, options: CallOptions = {}): Promise<void> {
    await this.#call("revoke_token", { token, token_type_hint: "" }, true, options);
  }

  async #tokens(
    parameters: Readonly<Record<string, string>>,
    isRepeatable: boolean,
    options: CallOptions,
  ): Promise<Tokens> {
    const sentMs = Date.now();
    const answer = await this.#call("access_token", parameters, isRepeatable, options);
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = answer;
    if (typeof accessToken !== "string") throw new UnexpectedAnswer("The answer has no access token.", 200);
    return {
      accessToken,
      refreshToken: typeof refreshToken === "string" ? refreshToken : undefined,
      expiresAtMs: sentMs + (typeof seconds === "number" ? seconds : 3_600) * 1_000,
    };
  }

  async #call(
    path: string,
    parameters: Readonly<Record<string, string>>,
    isRepeatable: boolean,
    { signal }: CallOptions,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { clientId, clientSecret } = this.#options;
    const { code = "", refresh_token = "", token = "", code_verifier = "" } = parameters;
    const answer = await this.#transport.send({
      method: "POST",
      url: `${this.#baseUrl}/oauth2/${path}`,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret, ...parameters }).toString(),
      isRepeatable,
      secrets: [clientSecret, code, refresh_token, token, code_verifier],
      signal,
    });
    if (answer.status !== 200) throw refusalInJson(answer);
    return readObject(answer.text);
  }
}

/**
 * The code that an address brings back. Throws `AuthorizationRefused` when it brings an error, or another state than
 * the one that was sent along: then somebody else began that.
 */
export function readCallback(callback: string | URL, state: string): string {
  const searchParams = parametersOf(callback);
  if (searchParams.get("state") !== state) {
    throw new AuthorizationRefused("wrong_state", "The answer belongs to another authorization: its state differs.");
  }
  const error = searchParams.get("error");
  if (error !== null) {
    const told = searchParams.get("error_description") ?? `The authorization ended with ${error}.`;
    throw new AuthorizationRefused(error, told);
  }
  const code = searchParams.get("code");
  if (!code) throw new AuthorizationRefused("no_code", "The answer brings neither a code nor an error.");
  return code;
}

/** The browser's own words about an address that is none would repeat it, and it may hold a code. */
function parametersOf(callback: string | URL): URLSearchParams {
  try {
    return new URL(callback).searchParams;
  } catch {
    throw new InvalidArgument("The callback must be the whole address to which the user came back.");
  }
}
