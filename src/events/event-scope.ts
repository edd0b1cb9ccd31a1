import type { AccessScope } from "../model/access-scope.ts";
import type { TenantId } from "../model/ids.ts";
import type { TailedEntry } from "../store/tables/log.ts";

/** The entries that a stream may be about: those of a client's access scope, or of the tenants that an operator reaches. */
export type EventScope = AccessScope | OperatorScope;

export interface OperatorScope {
  readonly kind: "operator";
  /** Undefined: all tenants. */
  readonly tenantIds: readonly TenantId[] | undefined;
}

/** Whether an entry belongs to a scope. The only place with this rule. */
export function isWithin(scope: EventScope, { userId, tenantId }: TailedEntry): boolean {
  switch (scope.kind) {
    case "user":
      return userId === scope.userId;
    case "enterprise":
      return tenantId === scope.tenantId;
    case "operator":
      return scope.tenantIds === undefined || (tenantId !== null && scope.tenantIds.includes(tenantId));
  }
}
