import { BadParameter, NotFound } from "../model/errors.ts";
import type { TenantId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { TenantRow } from "../store/tables/tenants.ts";
import { type OperatorAccess, type Role, roles } from "./operator.ts";
import type { OperatorTables } from "./tables.ts";

/** A role with the tenants that were chosen for it, as a caller names them. */
export interface WantedAccess {
  readonly role: string;
  readonly tenantIds: readonly TenantId[];
}

/**
 * Checks a role with its tenants. Owners reach all tenants. Tenant admins need at least one. Viewers without a tenant see
 * all.
 */
export function checkAccess({ role: wanted, tenantIds: chosen }: WantedAccess): OperatorAccess {
  const role = checkRole(wanted);
  const tenantIds = [...new Set(chosen)];
  if (role === "owner" && tenantIds.length > 0) {
    throw new BadParameter("tenant", "An owner reaches all tenants. Leave the tenants out, or choose another role.");
  }
  if (role === "tenantAdmin" && tenantIds.length === 0) {
    throw new BadParameter("tenant", "A tenantAdmin needs at least one tenant.");
  }
  if (tenantIds.length > limits.tenantsPerOperator) {
    throw new BadParameter("tenant", `An operator can have at most ${limits.tenantsPerOperator} tenants by name.`);
  }
  return { role, reachesAll: role === "owner" || tenantIds.length === 0, tenantIds };
}

/**
 * The tenants of an access that is stored in this transaction; none of them can be removed until it ends. Throws NotFound
 * when one was removed before: a later tenant can have the same id, and the operator would reach that.
 */
export async function holdTenants(
  tx: Pick<OperatorTables, "tenants">,
  tenantIds: readonly TenantId[],
): Promise<readonly TenantRow[]> {
  const held: TenantRow[] = [];
  for (const tenantId of tenantIds) {
    const tenant = await tx.tenants.hold(tenantId);
    if (!tenant) throw new NotFound(`There is no tenant ${tenantId}. See all with: breezeway tenant list`);
    held.push(tenant);
  }
  return held;
}

function checkRole(text: string): Role {
  const role = roles.find((one) => one === text);
  if (!role) throw new BadParameter("role", `The role must be one of ${roles.join(", ")}.`);
  return role;
}

/** The access of a stored row. An unknown role of a later version may do nothing but look. */
export function accessOf({
  role,
  reachesAll,
  tenantIds,
}: Omit<OperatorAccess, "role"> & { readonly role: string }): OperatorAccess {
  return { role: roles.find((one) => one === role) ?? "viewer", reachesAll, tenantIds };
}
