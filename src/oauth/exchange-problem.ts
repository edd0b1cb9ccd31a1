import { hashOf, isSame } from "../identity/secrets.ts";
import type { CodeRow } from "../store/tables/codes.ts";

/** The parameters that a client sends with a code to prove that it made the authorization request. */
export interface ExchangeProof {
  readonly redirectUri: string | undefined;
  readonly verifier: string | undefined;
}

/** Says why the code can't be exchanged; undefined when it can. */
export function exchangeProblem(code: CodeRow, { redirectUri, verifier }: ExchangeProof): string | undefined {
  return redirectProblem(code, redirectUri) ?? verifierProblem(code, verifier);
}

/** If redirect_uri was sent at authorize, it must be sent again. Otherwise it may be left out, or be the registered one. */
function redirectProblem(code: CodeRow, redirectUri: string | undefined): string | undefined {
  if (redirectUri === undefined && !code.isRedirectUriSent) return undefined;
  if (redirectUri === code.redirectUri) return undefined;
  return "The parameter redirect_uri differs from the one of the authorization request.";
}

/** RFC 7636 4.6. A verifier without a challenge may be a PKCE downgrade attack (RFC 9700 4.8.2). */
function verifierProblem({ challenge }: CodeRow, verifier: string | undefined): string | undefined {
  if (challenge === null) {
    return verifier === undefined ? undefined : "The authorization request had no code_challenge.";
  }
  if (verifier === undefined) return "The parameter code_verifier is missing.";
  const isWellFormed = /^[A-Za-z0-9._~-]{43,128}$/.test(verifier);
  const matches = isSame(hashOf(verifier), challenge);
  return isWellFormed && matches ? undefined : "The parameter code_verifier doesn't fit the code_challenge.";
}
