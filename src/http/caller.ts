import type { ScopedPrincipal, UserPrincipal } from "../identity/principal.ts";
import { BadParameter, InvalidSecToken, InvalidToken, MissingToken } from "../model/errors.ts";
import type { Client, ClientCredentials } from "../oauth/clients.ts";
import { given } from "./given.ts";
import type { Incoming } from "./incoming.ts";

/** Who stands behind what a request carries; each rejects when nobody does. */
export interface Callers {
  bySecToken(secToken: string): Promise<UserPrincipal>;
  byAccessToken(accessToken: string): Promise<ScopedPrincipal>;
  byClientSecret(credentials: ClientCredentials): Promise<Client>;
  /** The client that holds a token which was just verified, for the log; undefined when that isn't known at once. */
  clientHolding?(accessToken: string): string | undefined;
}

/** Who calls a route whose rule is `secToken`: the token comes as a parameter or as `Authorization: Bearer`. */
export async function callerBySecToken(incoming: Incoming, callers: Callers): Promise<UserPrincipal> {
  const bearer = incoming.bearer === undefined ? [] : [incoming.bearer];
  const secToken = given(incoming, "secToken", bearer);
  if (secToken === undefined) throw new InvalidSecToken();
  return callers.bySecToken(secToken);
}

const accessTokenPrefix = "bwa_";

/**
 * The caller of a route whose rule is `secTokenOrBearer`. An access token is known by its prefix and comes in the header
 * and nowhere else (RFC 6750 2.1); everything else is read as a secToken. Both are refused with the same error.
 */
export async function callerByEitherToken(incoming: Incoming, callers: Callers): Promise<ScopedPrincipal> {
  const { bearer } = incoming;
  if (!bearer?.startsWith(accessTokenPrefix)) {
    // A secToken stands for the user's own session, which has no scopes.
    return { ...(await callerBySecToken(incoming, callers)), scopes: null };
  }
  // This refuses another token beside the access token.
  given(incoming, "secToken", [bearer]);
  try {
    return await callerByBearer(incoming, callers);
  } catch (error) {
    throw error instanceof InvalidToken ? new InvalidSecToken() : error;
  }
}

/** Who calls a route whose rule is `bearer`: the token comes in the header and nowhere else (RFC 6750 2.1). */
export async function callerByBearer(incoming: Incoming, callers: Callers): Promise<ScopedPrincipal> {
  const form = incoming.body.kind === "form" ? incoming.body.pairs : [];
  if ([...incoming.query, ...form].some(([name]) => name === "access_token")) {
    throw new BadParameter(
      "access_token",
      "The access token must be sent in the Authorization header and nowhere else.",
    );
  }
  if (incoming.bearer === undefined) throw new MissingToken();
  if (incoming.bearer === "") throw new InvalidToken();
  return callers.byAccessToken(incoming.bearer);
}
