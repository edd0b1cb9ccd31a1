import type { Command } from "commander";
import type { Identity } from "../../identity/identity.ts";
import type { TenantId } from "../../model/ids.ts";
import { type Input, optional } from "../input.ts";

/** The option that limits a list to one tenant. */
export function withTenantOption(command: Command): Command {
  return command.option("--tenant <name or id>", "of one tenant only");
}

/** Undefined: all tenants. */
export async function chosenTenant(identity: Identity, input: Input): Promise<TenantId | undefined> {
  const tenant = optional(input, "tenant");
  return tenant === undefined ? undefined : (await identity.findTenant(tenant)).tenantId;
}

export async function tenantNames(identity: Identity): Promise<ReadonlyMap<TenantId, string>> {
  return new Map((await identity.listTenants()).map(({ tenantId, name }) => [tenantId, name]));
}
