import { BadParameter } from "../../model/errors.ts";
import type { TenantId } from "../../model/ids.ts";
import type { TenantRow } from "../../store/tables/tenants.ts";
import type { OperatorAccess } from "../operator.ts";
import { checkAccess } from "../operator-access.ts";
import type { OperatorTables } from "../tables.ts";
import { OpenIdRefused } from "./openid-errors.ts";
import type { Claims } from "./provider.ts";
import { type RoleRule, ruleFor } from "./role-rules.ts";

/**
 * The access that the first fitting rule gives to a person. Returns OpenIdRefused when no rule fits, or when its access
 * can't be given. `label`: how people call the provider.
 */
export async function claimedAccess(
  tx: Pick<OperatorTables, "tenants">,
  rules: readonly RoleRule[],
  claims: Claims,
  label: string,
): Promise<OperatorAccess | OpenIdRefused> {
  const rule = ruleFor(rules, claims);
  if (!rule) return new OpenIdRefused(`${label} knows you, but no rule makes you an operator of this Breezeway.`);
  const tenants = rule.tenants.length === 0 ? [] : await tx.tenants.list();
  const tenantIds: TenantId[] = [];
  for (const wanted of rule.tenants) {
    const tenant = await heldTenant(tx, tenants, wanted);
    if (!tenant) return new OpenIdRefused(`The rule for your role names the tenant ${wanted}, which does not exist.`);
    tenantIds.push(tenant.id);
  }
  try {
    return checkAccess({ role: rule.role, tenantIds });
  } catch (error) {
    if (error instanceof BadParameter) return new OpenIdRefused(error.message, error);
    throw error;
  }
}

/**
 * The tenant of a rule, which can't be removed until the access is stored. Undefined when there is none, or when it was
 * removed or renamed after the list was read: a later tenant can have the same id.
 */
async function heldTenant(
  tx: Pick<OperatorTables, "tenants">,
  tenants: readonly TenantRow[],
  wanted: string,
): Promise<TenantRow | undefined> {
  const isWanted = ({ id, name }: TenantRow) => name === wanted || String(id) === wanted;
  const listed = tenants.find(isWanted);
  const held = listed && (await tx.tenants.hold(listed.id));
  return held && isWanted(held) && held.createdMs === listed.createdMs ? held : undefined;
}
