import type { CallingPrincipal, EnterprisePrincipal } from "../identity/principal.ts";
import type { TenantId } from "../model/ids.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Sealer } from "./authorize/login-ticket.ts";

/** The access of a command token. */
export interface CommandAccess {
  readonly principal: EnterprisePrincipal & CallingPrincipal;
  /** The client id that owns the command's webhooks and limits. */
  readonly clientId: string;
  readonly remainingMs: number;
}

/**
 * Access tokens for commands on the service's own machine. A token is sealed with the deployment's key and contains its
 * access, so that no client and no grant is stored for a command. It can't be revoked: its holder can use the control
 * socket or the key file anyway.
 */
export interface CommandTokens {
  issue(tenantId: TenantId, clientId: string): string;
  /** Undefined for other tokens and for an expired one. */
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
      const principal = { kind: "enterprise", tenantId, scopes: null, clientId, isCommand: true } as const;
      return remainingMs > 0 ? { principal, clientId, remainingMs } : undefined;
    },
  };
}
