import type { TenantId } from "../model/ids.ts";
import type { Client, Clients } from "../oauth/clients.ts";
import { commandClientName } from "../oauth/command-tokens.ts";
import type { LinkSessionRow } from "../store/tables/link-sessions.ts";
import { accountPath } from "../web/account-address.ts";

/** Who has started a session: an OAuth client, an operator, or the account page. */
export interface SessionClient extends Pick<Client, "id" | "name" | "returnUrls" | "vouchesForUsers" | "suspendedMs"> {
  /** True if an operator made the session: its pages name the tenant, not the client. */
  readonly isOperators: boolean;
}

/** Stands in a session's row where others have their client's id. No client has this id. */
export const accountPageId = "account";

/** The address of a tenant's account page. */
export function accountUrl(baseUrl: string, tenantId: TenantId): string {
  return baseUrl.replace(/\/$/, "") + accountPath(tenantId);
}

/** Undefined when the client is gone. */
export async function clientOf(
  { clients, baseUrl }: { readonly clients: Pick<Clients, "findClient">; readonly baseUrl: () => string },
  { clientId, tenantId }: Pick<LinkSessionRow, "clientId" | "tenantId">,
): Promise<SessionClient | undefined> {
  if (clientId === accountPageId) {
    const facts = { id: accountPageId, name: "your account page", vouchesForUsers: false, suspendedMs: null };
    return { ...facts, isOperators: false, returnUrls: [accountUrl(baseUrl(), tenantId)] };
  }
  const client = await clients.findClient(clientId);
  return client && { ...client, isOperators: client.kind === "enterprise" && client.name === commandClientName };
}

/** The client for the audit log. */
export function auditedClient(clientId: string): { readonly clientId?: string } {
  return clientId === accountPageId ? {} : { clientId };
}
