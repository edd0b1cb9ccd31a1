/** Where calls of /v3 get their access token from, and where they turn when it is refused. */
export interface AccessTokens {
  /** The token to call with. */
  current(signal?: AbortSignal): Promise<string>;
  /** Another token in the place of one that was refused; undefined when there is none. Called once for each call. */
  renewed(refused: string, signal?: AbortSignal): Promise<string | undefined>;
}

/**
 * A token that somebody else looks after.
 * @internal
 */
export function fixedToken(accessToken: string): AccessTokens {
  return { current: async () => accessToken, renewed: async () => undefined };
}
