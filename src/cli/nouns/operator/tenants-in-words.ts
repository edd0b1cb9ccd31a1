import type { TenantId } from "../../../model/ids.ts";
import type { Answer } from "../../administration/admin-command.ts";

/** The tenants that an operator reaches by name, without those that were removed. */
export function namedTenants(tenantIds: readonly TenantId[], names: ReadonlyMap<number, string>) {
  return tenantIds.flatMap((tenantId) => {
    const name = names.get(tenantId);
    return name === undefined ? [] : [{ tenantId, name }];
  });
}

export function tenantsInWords({ allTenants, tenants }: Answer): string {
  if (allTenants) return "all tenants";
  return tenants.map(({ name }: { readonly name: string }) => name).join(", ") || "no tenant";
}
