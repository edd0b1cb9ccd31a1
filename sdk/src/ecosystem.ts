import { readObject } from "./adaptor.ts";
import { UnexpectedAnswer } from "./errors.ts";
import { readCallback } from "./oauth.ts";
import { randomText } from "./randomness.ts";
import { unexpectedAnswer } from "./refusals.ts";
import { type CallOptions, Transport } from "./transport.ts";

/** The registration of an application with the third-party ecosystem. */
export interface EcosystemOptions {
  /** The ecosystem's consent page. */
  readonly authUrl: string;
  /** The ecosystem's token endpoint. In a browser: an endpoint of your server, which adds the secret and calls it. */
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Leave it out in a browser: your server adds it. */
  readonly clientSecret?: string | undefined;
  readonly redirectUri?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly timeoutMs?: number | undefined;
}

/** A token of the ecosystem, for `updateFederatedToken`. */
export interface EcosystemToken {
  readonly accessToken: string;
  readonly expiresInSeconds: number | undefined;
}

/** The OAuth flow at the ecosystem: consent, then a token. Pass the token to `updateFederatedToken`. */
export class EcosystemClient {
  readonly #options: EcosystemOptions;
  readonly #transport: Transport;

  constructor(options: EcosystemOptions) {
    this.#options = options;
    this.#transport = new Transport(options);
  }

  /** Returns the address of the ecosystem's consent page. Store the state until the browser comes back. */
  async begin(): Promise<{ readonly url: string; readonly state: string }> {
    const state = await randomText(16);
    const { authUrl, clientId, redirectUri } = this.#options;
    const url = new URL(authUrl);
    url.searchParams.set("client_id", clientId);
    url.searchParams.set("state", state);
    if (redirectUri !== undefined) url.searchParams.set("redirect_uri", redirectUri);
    return { url: url.href, state };
  }

  /**
   * Checks the address to which the browser came back, and exchanges its code for a token. The request has no
   * `redirect_uri`: the ecosystem's token endpoint does not take one.
   */
  async finish(callback: string | URL, state: string, { signal }: CallOptions = {}): Promise<EcosystemToken> {
    const code = readCallback(callback, state);
    const { tokenUrl, clientId, clientSecret } = this.#options;
    const answer = await this.#transport.send({
      method: "POST",
      url: tokenUrl,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({
        client_id: clientId,
        ...(clientSecret !== undefined && { client_secret: clientSecret }),
        code,
        grant_type: "authorization_code",
      }).toString(),
      isRepeatable: false,
      secrets: [clientSecret ?? "", code],
      signal,
    });
    if (answer.status !== 200) throw unexpectedAnswer(answer);
    const { access_token: accessToken, expires_in: seconds } = readObject(answer.text);
    if (typeof accessToken !== "string") throw new UnexpectedAnswer("The answer has no access token.", 200);
    return { accessToken, expiresInSeconds: typeof seconds === "number" ? seconds : undefined };
  }
}
