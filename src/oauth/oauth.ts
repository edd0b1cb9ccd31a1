import { FailureLimits } from "../identity/failure-limits.ts";
import type { Tenants } from "../identity/tenants.ts";
import type { Surroundings } from "../model/surroundings.ts";
import type { Store } from "../store/seam.ts";
import { clientsOn } from "./clients.ts";
import { Verification } from "./verification.ts";

export interface OAuthParts {
  readonly store: Store;
  readonly tenants: Pick<Tenants, "findTenant">;
  readonly surroundings: Surroundings;
}

export function oauthOn({ store, tenants, surroundings }: OAuthParts) {
  const verification = new Verification({ store, surroundings });
  const grantsEnded = (grantIds: readonly string[]) => verification.forget(grantIds);
  const clients = clientsOn({ store, tenants, limits: new FailureLimits(surroundings.nowMs), grantsEnded });
  return {
    ...clients,
    verify: (accessToken: string) => verification.verify(accessToken),
    grantsEnded,
    start: () => verification.start(),
    stop: () => verification.stop(),
  };
}

export type OAuth = ReturnType<typeof oauthOn>;
