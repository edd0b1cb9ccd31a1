import type { AccessTokens } from "./access-tokens.ts";
import type { OAuthClient, Tokens } from "./oauth.ts";
import { marginMs } from "./token-keeper.ts";
import { orAborted } from "./waiting.ts";

/**
 * The tokens with which an enterprise client acts for its whole tenant (grant type `client_credentials`). They have no
 * refresh token: the client gets the next one with its secret. Concurrent calls share one renewal.
 */
export class ClientTokens implements AccessTokens {
  readonly #oauth: Pick<OAuthClient, "asItself">;
  #tokens: Tokens | undefined;
  #renewing: Promise<Tokens> | undefined;

  constructor(oauth: Pick<OAuthClient, "asItself">) {
    this.#oauth = oauth;
  }

  /** A token that does not expire soon. */
  async current(signal?: AbortSignal): Promise<string> {
    const tokens = this.#tokens;
    return tokens && tokens.expiresAtMs - marginMs > Date.now() ? tokens.accessToken : this.#renew(signal);
  }

  /** Another token than the one that was refused. */
  async renewed(refused: string, signal?: AbortSignal): Promise<string> {
    const tokens = this.#tokens;
    return tokens && tokens.accessToken !== refused ? tokens.accessToken : this.#renew(signal);
  }

  /** A caller's signal ends only its wait: other callers wait for the token too. */
  async #renew(signal: AbortSignal | undefined): Promise<string> {
    this.#renewing ??= this.#request().finally(() => {
      this.#renewing = undefined;
    });
    return (await orAborted(this.#renewing, signal)).accessToken;
  }

  async #request(): Promise<Tokens> {
    this.#tokens = await this.#oauth.asItself();
    return this.#tokens;
  }
}
