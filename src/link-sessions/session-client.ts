import type { TenantId } from "../model/ids.ts";
import type { Client, Clients } from "../oauth/clients.ts";
import type { LinkSessionRow } from "../store/tables/link-sessions.ts";
import { accountPath } from "../web/account-address.ts";

/** Who has started a session: an OAuth client, or the account page. */
export type SessionClient = Pick<Client, "id" | "name" | "returnUrls" | "vouchesForUsers" | "suspendedMs">;

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
  if (clientId !== accountPageId) return clients.findClient(clientId);
  const returnUrls = [accountUrl(baseUrl(), tenantId)];
  return { id: accountPageId, name: "your account page", returnUrls, vouchesForUsers: false, suspendedMs: null };
}

/** The client for the audit log. */
export function auditedClient(clientId: string): { readonly clientId?: string } {
  return clientId === accountPageId ? {} : { clientId };
}
