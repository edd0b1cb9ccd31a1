import type { EnterprisePrincipal, Principal } from "../../identity/principal.ts";
import { EnterpriseOnly } from "../../model/errors.ts";

/** The caller if it is an enterprise client; throws EnterpriseOnly for a user's token. */
export function requireEnterprise(caller: Principal): EnterprisePrincipal {
  if (caller.kind !== "enterprise") throw new EnterpriseOnly();
  return caller;
}
