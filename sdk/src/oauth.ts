import { readObject } from "./adaptor.ts";
import { AuthorizationRefused, InvalidArgument, UnexpectedAnswer } from "./errors.ts";
import { randomText, sha256Text } from "./randomness.ts";
import { refusalInJson } from "./refusals.ts";
import { type CallOptions, Transport } from "./transport.ts";

/** A client of the authorization server. */
export interface OAuthOptions {
  /** `{base_url}` of the interface. */
  readonly baseUrl: string;
  readonly clientId: string;
  /** Confidential: keep it on your server, never in a page. */
  readonly clientSecret: string;
  /** The address to which the browser comes back; optional if exactly one is registered. */
  readonly redirectUri?: string | undefined;
  /**
   * The scopes that `begin` and `asItself` request, such as `devices:read` and `devices:control`. Without them the token
   * has full access, except that a user's token then commands no things but fans.
   */
  readonly scopes?: readonly string[] | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** How long an answer may take. 60 seconds by default. */
  readonly timeoutMs?: number | undefined;
  /** How often a failed call is repeated if that is safe. 2 by default. */
  readonly retries?: number | undefined;
}

/** A started authorization. Store state and verifier, for each user, until the browser comes back. */
export interface Authorization {
  /** The address for the user's browser. */
  readonly url: string;
  readonly state: string;
  readonly codeVerifier: string;
}

/** The tokens of a grant. */
export interface Tokens {
  readonly accessToken: string;
  /** Undefined with `asItself`. */
  readonly refreshToken: string | undefined;
  /** When the access token expires, by this machine's clock, in milliseconds. */
  readonly expiresAtMs: number;
}

/** The OAuth 2.0 authorization-code flow with PKCE and state. */
export class OAuthClient {
  readonly #options: OAuthOptions;
  readonly #baseUrl: string;
  readonly #transport: Transport;

  constructor(options: OAuthOptions) {
    this.#options = options;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.#transport = new Transport(options);
  }

  /** Returns the address for the user's browser, with a new state and PKCE challenge. */
  async begin(): Promise<Authorization> {
    const [state, codeVerifier] = [await randomText(), await randomText()];
    const { clientId, redirectUri } = this.#options;
    const parameters = new URLSearchParams({
      response_type: "code",
      client_id: clientId,
      state,
      code_challenge: await sha256Text(codeVerifier),
      code_challenge_method: "S256",
      ...(redirectUri !== undefined && { redirect_uri: redirectUri }),
      ...this.#scope(),
    });
    return { url: `${this.#baseUrl}/oauth2/authorize?${parameters}`, state, codeVerifier };
  }

  /** Checks that the address to which the browser came back belongs to this authorization, and exchanges its code. */
  async finish(
    callback: string | URL,
    { state, codeVerifier }: Pick<Authorization, "state" | "codeVerifier">,
    options: CallOptions = {},
  ): Promise<Tokens> {
    const code = readCallback(callback, state);
    const issuer = parametersOf(callback).get("iss");
    if (issuer !== null && issuer !== this.#baseUrl) {
      throw new AuthorizationRefused("wrong_issuer", "The answer comes from another authorization server.");
    }
    return this.exchange(code, codeVerifier, options);
  }

  /** Exchanges a code, within a minute. Never repeated: a second exchange would end the tokens of the first. */
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

  /** Gets a new pair for a refresh token. Safe to repeat: the old token is valid until the new one is used. */
  async refresh(refreshToken: string, options: CallOptions = {}): Promise<Tokens> {
    const tokens = await this.#tokens({ grant_type: "refresh_token", refresh_token: refreshToken }, true, options);
    return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
  }

  /** A token with which an enterprise client acts for its whole tenant (grant type `client_credentials`). */
  asItself(options: CallOptions = {}): Promise<Tokens> {
    return this.#tokens({ grant_type: "client_credentials", ...this.#scope() }, true, options);
  }

  /** Revokes a grant by either of its tokens. */
  async revoke(token: string, options: CallOptions = {}): Promise<void> {
    await this.#call("revoke_token", { token, token_type_hint: "" }, true, options);
  }

  #scope(): { readonly scope?: string } {
    const { scopes = [] } = this.#options;
    return scopes.length === 0 ? {} : { scope: scopes.join(" ") };
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
 * The code in the address to which the browser came back. Throws `AuthorizationRefused` if the address has an error or
 * another state: then it belongs to another authorization, or is forged.
 */
export function readCallback(callback: string | URL, state: string): string {
  const searchParams = parametersOf(callback);
  if (searchParams.get("state") !== state) {
    throw new AuthorizationRefused("wrong_state", "The answer belongs to another authorization: its state differs.");
  }
  const error = searchParams.get("error");
  if (error !== null) {
    const message = searchParams.get("error_description") ?? `The authorization ended with ${error}.`;
    throw new AuthorizationRefused(error, message);
  }
  const code = searchParams.get("code");
  if (!code) throw new AuthorizationRefused("no_code", "The answer brings neither a code nor an error.");
  return code;
}

/** Replaces the runtime's error, whose message would repeat the address, which may hold a code. */
function parametersOf(callback: string | URL): URLSearchParams {
  try {
    return new URL(callback).searchParams;
  } catch {
    throw new InvalidArgument("The callback must be the whole address to which the user came back.");
  }
}
