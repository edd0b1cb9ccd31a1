import type { AccessTokens } from "./access-tokens.ts";
import { InvalidGrant, NotSignedIn } from "./errors.ts";
import type { OAuthClient, Tokens } from "./oauth.ts";
import { orAborted } from "./waiting.ts";

/** Where tokens are kept between two calls and two runs: yours, since only you know how safe it has to be. */
export interface TokenStore {
  /** The newest pair; undefined when nobody has signed in. */
  load(): Tokens | undefined | Promise<Tokens | undefined>;
  /** A new pair; it must be kept before this resolves, for the old one ends once the new one is used. */
  save(tokens: Tokens): void | Promise<void>;
}

/** A token that ends so soon might end on its way. */
const marginMs = 30_000;

/**
 * Access tokens that renew themselves: before they end, and when the service refuses one. However many calls need it
 * at once, one refresh is sent.
 */
export class TokenKeeper implements AccessTokens {
  readonly #oauth: Pick<OAuthClient, "refresh">;
  readonly #store: TokenStore;
  #refreshing: Promise<Tokens> | undefined;

  /** Begins with what lies in the store. */
  constructor(oauth: Pick<OAuthClient, "refresh">, store: TokenStore) {
    this.#oauth = oauth;
    this.#store = store;
  }

  /** A token that is good for a while longer. */
  async current(signal?: AbortSignal): Promise<string> {
    const tokens = await this.#load();
    const isGood = tokens.expiresAtMs - marginMs > Date.now() || tokens.refreshToken === undefined;
    return isGood ? tokens.accessToken : (await this.#refreshed(tokens, signal)).accessToken;
  }

  /** Another token than the one that was refused. */
  async renewed(refused: string, signal?: AbortSignal): Promise<string | undefined> {
    const tokens = await this.#load();
    // Somebody else has renewed it in the meantime.
    if (tokens.accessToken !== refused) return tokens.accessToken;
    if (tokens.refreshToken === undefined) return undefined;
    return (await this.#refreshed(tokens, signal)).accessToken;
  }

  async #load(): Promise<Tokens> {
    // While a refresh is under way, what lies in the store is on its way out.
    const tokens = (await this.#refreshing?.catch(() => undefined)) ?? (await this.#store.load());
    if (!tokens) throw new NotSignedIn("There are no tokens yet: sign in first.", { code: "missing_token" });
    return tokens;
  }

  /** Nobody's signal ends it: others wait for it too, and a pair that was given must be kept. */
  #refreshed(tokens: Tokens, signal: AbortSignal | undefined): Promise<Tokens> {
    this.#refreshing ??= this.#refresh(tokens).finally(() => {
      this.#refreshing = undefined;
    });
    return orAborted(this.#refreshing, signal);
  }

  async #refresh({ accessToken, refreshToken = "" }: Tokens): Promise<Tokens> {
    // A concurrent refresh may have stored new tokens already: then there is no reason for another one.
    const kept = await this.#store.load();
    if (kept && kept.accessToken !== accessToken) return kept;
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
