import { readObject } from "./adaptor.ts";
import { UnexpectedAnswer } from "./errors.ts";
import { readCallback } from "./oauth.ts";
import { randomText } from "./randomness.ts";
import { unexpected } from "./refusals.ts";
import { type CallOptions, Transport } from "./transport.ts";

/** A client of the third-party ecosystem: the application that its users allow to see their homes. */
export interface EcosystemOptions {
  /** Where the ecosystem asks its user. */
  readonly authUrl: string;
  /** Where a code becomes a token. In a page: an address of your own server that passes it on, with the secret. */
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Left out in a page, whose server adds it. */
  readonly clientSecret?: string | undefined;
  readonly redirectUri?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly timeoutMs?: number | undefined;
}

/** A token of the ecosystem, to be handed to `updateFederatedToken`. */
export interface EcosystemToken {
  readonly accessToken: string;
  readonly expiresInSeconds: number | undefined;
}

/** The first two steps of linking (interface 4.5): the ecosystem's consent, and its token. */
export class EcosystemClient {
  readonly #options: EcosystemOptions;
  readonly #transport: Transport;

  constructor(options: EcosystemOptions) {
    this.#options = options;
    this.#transport = new Transport(options);
  }

  /** Makes the address to which the user's browser goes; keep the state until it comes back. */
  async begin(): Promise<{ readonly url: string; readonly state: string }> {
    const state = await randomText(16);
    const { authUrl, clientId, redirectUri } = this.#options;
    const url = new URL(authUrl);
    url.searchParams.set("client_id", clientId);
    url.searchParams.set("state", state);
    if (redirectUri !== undefined) url.searchParams.set("redirect_uri", redirectUri);
    return { url: url.href, state };
  }

  /** Takes the address to which the user came back, and turns its code into a token. */
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
    if (answer.status !== 200) throw unexpected(answer);
    const { access_token: accessToken, expires_in: seconds } = readObject(answer.text);
    if (typeof accessToken !== "string") throw new UnexpectedAnswer("The answer has no access token.", 200);
    return { accessToken, expiresInSeconds: typeof seconds === "number" ? seconds : undefined };
  }
}
