import type { CallingPrincipal, EnterprisePrincipal } from "../identity/principal.ts";
import type { TenantId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
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
  issue(tenantId: TenantId, clientId: string): Promise<string>;
  /** Whether the token has the form of a command's token. */
  isOne(accessToken: string): boolean;
  /** Undefined for other tokens and for an expired one. */
  open(accessToken: string): Promise<CommandAccess | undefined>;
}

/** The name of the enterprise client that owns what commands and operators make, as `client list` shows it. */
export const commandClientName = "Command line";

const prefix = "bwo_";
const purpose = "access of commands";
const lifeMs = 3_600_000;

/** The times are of the store's clock: another machine may check the token. */
export function commandTokensWith(sealer: Sealer, store: Store<Pick<Transaction, "clock">>): CommandTokens {
  const nowMs = () => store.read((tx) => tx.clock.nowMs());
  const isOne = (accessToken: string) => accessToken.startsWith(prefix);
  return {
    isOne,
    async issue(tenantId, clientId) {
      const text = JSON.stringify({ tenantId, clientId, untilMs: (await nowMs()) + lifeMs });
      return prefix + sealer.derive(purpose).seal(text, purpose);
    },
    async open(accessToken) {
      if (!isOne(accessToken)) return undefined;
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
      const remainingMs = untilMs - (await nowMs());
      const principal = { kind: "enterprise", tenantId, scopes: null, clientId, isCommand: true } as const;
      return remainingMs > 0 ? { principal, clientId, remainingMs } : undefined;
    },
  };
}
