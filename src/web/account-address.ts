import type { TenantId } from "../model/ids.ts";

/** The path of a tenant's account page, below the base URL. */
export function accountPath(tenantId: TenantId): string {
  return `/account/${tenantId}`;
}
