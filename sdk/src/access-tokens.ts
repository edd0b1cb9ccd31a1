/** The source of access tokens for calls of /v3. */
export interface AccessTokens {
  /** The token to call with. */
  current(signal?: AbortSignal): Promise<string>;
  /** A new token after the service has refused one; undefined if there is none. The SDK asks at most once per call. */
  renewed(refused: string, signal?: AbortSignal): Promise<string | undefined>;
}

/**
 * A token that the application renews itself.
 * @internal
 */
export function fixedToken(accessToken: string): AccessTokens {
  return { current: async () => accessToken, renewed: async () => undefined };
}
