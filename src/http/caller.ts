import type { Principal } from "../identity/principal.ts";
import { InvalidSecToken } from "../model/errors.ts";
import { given } from "./given.ts";
import type { Incoming } from "./incoming.ts";

export type Authenticate = (secToken: string) => Promise<Principal>;

/** Who calls a route whose rule is `secToken`: the token comes as a parameter or as `Authorization: Bearer`. */
export async function callerBySecToken(incoming: Incoming, authenticate: Authenticate): Promise<Principal> {
  const bearer = incoming.bearer === undefined ? [] : [incoming.bearer];
  const secToken = given(incoming, "secToken", bearer);
  if (secToken === undefined) throw new InvalidSecToken();
  return authenticate(secToken);
}
