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

/**
 * A token is renewed this long before it expires, so that it does not expire during a call.
 * @internal
 */
export const marginMs = 30_000;

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
    const tokens = await this.#load(signal);
    const isValid = tokens.expiresAtMs - marginMs > Date.now() || tokens.refreshToken === undefined;
    return isValid ? tokens.accessToken : (await this.#refreshed(tokens, signal)).accessToken;
  }

  /** Another token than the one that was refused. */
  async renewed(refused: string, signal?: AbortSignal): Promise<string | undefined> {
    const tokens = await this.#load(signal);
    // Another call or process has renewed it.
    if (tokens.accessToken !== refused) return tokens.accessToken;
    if (tokens.refreshToken === undefined) return undefined;
    return (await this.#refreshed(tokens, signal)).accessToken;
  }

  async #load(signal: AbortSignal | undefined): Promise<Tokens> {
    // During a refresh the pair in the store is about to be replaced.
    const refreshed = this.#refreshing?.catch(() => undefined);
    const tokens = (refreshed && (await orAborted(refreshed, signal))) ?? (await this.#store.load());
    return tokens ?? missingTokens();
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
      // The user may have signed out or in again meanwhile: the refreshed pair must not replace that.
      const present = await this.#store.load();
      if (present?.accessToken !== accessToken) return present ?? missingTokens();
      await this.#store.save(fresh);
      return fresh;
    } catch (error) {
      if (!(error instanceof InvalidGrant)) throw error;
      // The refused pair may be the one from before a new sign-in.
      const present = await this.#store.load();
      if (present && present.accessToken !== accessToken) return present;
      throw new NotSignedIn("The access has ended: sign in again.", error, { cause: error });
    }
  }
}

function missingTokens(): never {
  throw new NotSignedIn("There are no tokens yet: sign in first.", { code: "missing_token" });
}
