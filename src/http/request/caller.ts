import type { CallingPrincipal, UserPrincipal } from "../../identity/principal.ts";
import { InvalidSecToken, InvalidToken, MisplacedToken, MissingToken } from "../../model/errors.ts";
import type { Client, ClientCredentials } from "../../oauth/clients.ts";
import type { Incoming } from "./incoming.ts";
import type { OperatorCallers } from "./operator-caller.ts";
import { optionalParameter } from "./query-or-body.ts";

/** Finds the caller from credentials; each method rejects when they are invalid. */
export interface Callers {
  bySecToken(secToken: string): Promise<UserPrincipal>;
  byAccessToken(accessToken: string): Promise<CallingPrincipal>;
  byClientSecret(credentials: ClientCredentials): Promise<Client>;
  /**
   * Counts a request for the quotas of its client and tenant. Throws QuotaExceeded beyond them, unless the request must
   * not be refused.
   */
  admit?(caller: UserPrincipal | CallingPrincipal, mayRefuse: boolean): void;
  /** Without it, no operator is recognised. */
  readonly operators?: OperatorCallers;
}

/** The caller of a route whose rule is `secToken`: the token comes as a parameter or as `Authorization: Bearer`. */
export async function callerBySecToken(incoming: Incoming, callers: Callers): Promise<UserPrincipal> {
  const secToken = eitherToken(incoming);
  if (secToken === undefined) throw new InvalidSecToken();
  return callers.bySecToken(secToken);
}

const accessTokenPrefix = "bwa_";

/**
 * The caller of a route whose rule is `secTokenOrBearer`. Either token comes in the header or as the parameter
 * `secToken`, which is the only place that the interface names. An access token is recognised by its prefix. Both are
 * refused with the same error.
 */
export async function callerByEitherToken(incoming: Incoming, callers: Callers): Promise<CallingPrincipal> {
  const token = eitherToken(incoming);
  if (token === undefined) throw new InvalidSecToken();
  if (!token.startsWith(accessTokenPrefix)) {
    // A secToken is the user's own session, which has no scopes.
    return { ...(await callers.bySecToken(token)), scopes: null };
  }
  refuseMisplacedToken(incoming);
  try {
    return await callers.byAccessToken(token);
  } catch (error) {
    if (!(error instanceof InvalidToken)) throw error;
    throw error.suspended ? new InvalidSecToken(error.message) : new InvalidSecToken();
  }
}

/** The token in the header or in the parameter `secToken`. Two different tokens are refused. */
function eitherToken(incoming: Incoming): string | undefined {
  return optionalParameter(incoming, "secToken", incoming.bearer === undefined ? [] : [incoming.bearer]);
}

/** The caller of a route whose rule is `bearer`: the token comes in the header and nowhere else (RFC 6750 2.1). */
export async function callerByBearer(incoming: Incoming, callers: Callers): Promise<CallingPrincipal> {
  refuseMisplacedToken(incoming);
  if (incoming.bearer === undefined) throw new MissingToken();
  if (incoming.bearer === "") throw new InvalidToken();
  return callers.byAccessToken(incoming.bearer);
}

/** Refuses an access token in the query or in a form. */
export function refuseMisplacedToken({ query, body }: Incoming): void {
  const form = body.kind === "form" ? body.pairs : [];
  if ([...query, ...form].some(([name]) => name === "access_token")) throw new MisplacedToken();
}
