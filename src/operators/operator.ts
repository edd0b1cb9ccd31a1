import type { OperatorId, TenantId } from "../model/ids.ts";

/**
 * `owner`: everything. `tenantAdmin`: everything in the named tenants. `viewer`: sees what is no secret, and changes
 * nothing.
 */
export const roles = ["owner", "tenantAdmin", "viewer"] as const;
export type Role = (typeof roles)[number];

/** The role of an operator, and the tenants that it holds for: all, or those that are named. */
export interface OperatorAccess {
  readonly role: Role;
  readonly reachesAll: boolean;
  readonly tenantIds: readonly TenantId[];
}

/** An operator who makes a call. */
export interface Operator extends OperatorAccess {
  readonly operatorId: OperatorId;
  readonly name: string;
  /** How the operator was recognised. */
  readonly by: OperatorCredential;
}

/** A browser's session, or the token of a program. */
export type OperatorCredential =
  | {
      readonly kind: "session";
      readonly id: string;
      /** The password was typed so recently that it need not be asked again. */
      readonly isConfirmed: boolean;
    }
  | { readonly kind: "token"; readonly id: string };

/** What an act needs: it reads, it changes something, or its answer holds a secret. */
export type Need = "read" | "change" | "secret";

/**
 * Whether an act concerns tenants, the deployment as a whole (keys, backups, operators, settings), or the operator who
 * acts: their own sessions and tokens.
 */
export type Subject = "tenants" | "deployment" | "self";

/** Whether a role allows an act at all. Which tenants it may touch is decided by `reaches`. */
export function mayDo({ role, reachesAll }: OperatorAccess, need: Need, subject: Subject): boolean {
  if (role === "owner" || subject === "self") return true;
  if (role === "viewer") return need === "read" && (subject === "tenants" || reachesAll);
  return subject === "tenants";
}

/** Whether an operator reaches a tenant. To others it looks as if it did not exist. */
export function reaches({ role, reachesAll, tenantIds }: OperatorAccess, tenantId: TenantId): boolean {
  return role === "owner" || reachesAll || tenantIds.includes(tenantId);
}

/** The tenants that an operator reaches; undefined: all. */
export function reachedTenants({ role, reachesAll, tenantIds }: OperatorAccess): readonly TenantId[] | undefined {
  return role === "owner" || reachesAll ? undefined : tenantIds;
}

/** The name in audit entries of commands on the machine itself. No operator may have it. */
export const localName = "local";
