import type { EnterprisePrincipal, ScopedPrincipal } from "../identity/principal.ts";
import type { TenantId } from "../model/ids.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Sealer } from "./authorize/login-ticket.ts";

/** What a command may do at the service's address, and for how long. */
export interface CommandAccess {
  readonly principal: EnterprisePrincipal & ScopedPrincipal;
  /** Whose webhooks are its own, and whose limits it counts against. */
  readonly clientId: string;
  readonly remainingMs: number;
}

/**
 * Access tokens for commands on the service's own machine. Such a token is sealed with the deployment's key and holds
 * what it allows, so that neither a client nor a grant is stored for a command that only reads. Nobody can revoke it:
 * the person who has one has the control socket or the key file too.
 */
export interface CommandTokens {
  issue(tenantId: TenantId, clientId: string): string;
  /** Undefined for every other token, and for one that has expired. */
  open(accessToken: string): CommandAccess | undefined;
}

const prefix = "bwo_";
const purpose = "access of commands";
const lifeMs = 3_600_000;

export function commandTokensWith(sealer: Sealer, { nowMs }: Pick<Runtime, "nowMs">): CommandTokens {
  return {
    issue(tenantId, clientId) {
      const text = JSON.stringify({ tenantId, clientId, untilMs: nowMs() + lifeMs });
      return prefix + sealer.derive(purpose).seal(text, purpose);
    },
    open(accessToken) {
      if (!accessToken.startsWith(prefix)) return undefined;
      let text: string;
      try {
        text = sealer.derive(purpose).open(accessToken.slice(prefix.length), purpose);
      } catch {
        return undefined;
      }
      const { tenantId, clientId, untilMs } = JSON.parse(text) as {
        readonly tenantId: TenantId;
        readonly clientId: string;
        readonly untilMs: number;
      };
      const remainingMs = untilMs - nowMs();
      const principal = { kind: "enterprise", tenantId, scopes: null } as const;
      return remainingMs > 0 ? { principal, clientId, remainingMs } : undefined;
    },
  };
}
