import type { AccessTokens } from "./access-tokens.ts";
import { InvalidGrant, NotSignedIn } from "./errors.ts";
import type { OAuthClient, Tokens } from "./oauth.ts";
import { orAborted } from "./waiting.ts";

/** The application's storage for tokens. */
export interface TokenStore {
  /** The newest pair; undefined before the first sign-in. */
  load(): Tokens | undefined | Promise<Tokens | undefined>;
  /** Stores a new pair. It must be stored when this resolves, because using the new pair ends the old one. */
  save(tokens: Tokens): void | Promise<void>;
}

/** A token is renewed this long before it expires, so that it does not expire during a call. */
const marginMs = 30_000;

/** Renews access tokens before they expire and when the service refuses one. Refreshes are single-flight. */
export class TokenKeeper implements AccessTokens {
  readonly #oauth: Pick<OAuthClient, "refresh">;
  readonly #store: TokenStore;
  #refreshing: Promise<Tokens> | undefined;

  /** Uses the tokens of the store. */
  constructor(oauth: Pick<OAuthClient, "refresh">, store: TokenStore) {
    this.#oauth = oauth;
    this.#store = store;
  }

  /** A token that does not expire soon. */
  async current(signal?: AbortSignal): Promise<string> {
    const tokens = await this.#load();
    const isValid = tokens.expiresAtMs - marginMs > Date.now() || tokens.refreshToken === undefined;
    return isValid ? tokens.accessToken : (await this.#refreshed(tokens, signal)).accessToken;
  }

  /** Another token than the one that was refused. */
  async renewed(refused: string, signal?: AbortSignal): Promise<string | undefined> {
    const tokens = await this.#load();
    // Another call or process has renewed it.
    if (tokens.accessToken !== refused) return tokens.accessToken;
    if (tokens.refreshToken === undefined) return undefined;
    return (await this.#refreshed(tokens, signal)).accessToken;
  }

  async #load(): Promise<Tokens> {
    // During a refresh the pair in the store is about to be replaced.
    const tokens = (await this.#refreshing?.catch(() => undefined)) ?? (await this.#store.load());
    if (!tokens) throw new NotSignedIn("There are no tokens yet: sign in first.", { code: "missing_token" });
    return tokens;
  }

  /** A caller's signal ends only its wait: other callers wait for the refresh too, and its pair must be stored. */
  #refreshed(tokens: Tokens, signal: AbortSignal | undefined): Promise<Tokens> {
    this.#refreshing ??= this.#refresh(tokens).finally(() => {
      this.#refreshing = undefined;
    });
    return orAborted(this.#refreshing, signal);
  }

  async #refresh({ accessToken, refreshToken = "" }: Tokens): Promise<Tokens> {
    // A concurrent refresh may have stored new tokens already: then there is no reason for another one.
    const stored = await this.#store.load();
    if (stored && stored.accessToken !== accessToken) return stored;
    try {
      const fresh = await this.#oauth.refresh(refreshToken);
      await this.#store.save(fresh);
      return fresh;
    } catch (error) {
      if (!(error instanceof InvalidGrant)) throw error;
      throw new NotSignedIn("The access has ended: sign in again.", error, { cause: error });
    }
  }
}
