import type { TenantId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";

/** Of what names are wanted. */
export interface WantedNames {
  readonly userIds: readonly UserId[];
  readonly clientIds: readonly string[];
  readonly tenantIds: readonly TenantId[];
}

/** What does not exist is left out. */
export interface FoundNames {
  readonly users: readonly { readonly userId: UserId; readonly name: string }[];
  readonly clients: readonly { readonly clientId: string; readonly name: string }[];
  readonly tenants: readonly { readonly tenantId: TenantId; readonly name: string }[];
}

export interface DisplayNames {
  /** One query for each kind. `within`: only what belongs to these tenants. */
  namesOf(wanted: WantedNames, within?: readonly TenantId[]): Promise<FoundNames>;
}

export function displayNamesOn(store: Store<Pick<Transaction, "users" | "clients" | "tenants">>): DisplayNames {
  return {
    async namesOf({ userIds, clientIds, tenantIds }, within) {
      const isWithin = (tenantId: TenantId) => within === undefined || within.includes(tenantId);
      const [users, clients, tenants] = await store.read(
        async (tx) =>
          [
            userIds.length === 0 ? [] : await tx.users.some(userIds),
            clientIds.length === 0 ? [] : await tx.clients.some(clientIds),
            tenantIds.length === 0 ? [] : await tx.tenants.list(),
          ] as const,
      );
      return {
        users: users
          .filter(({ tenantId }) => isWithin(tenantId))
          .map(({ id, name }) => ({ userId: id, name }))
          .toSorted((a, b) => a.userId - b.userId),
        clients: clients.filter(({ tenantId }) => isWithin(tenantId)).map(({ id, name }) => ({ clientId: id, name })),
        tenants: tenants
          .filter(({ id }) => tenantIds.includes(id) && isWithin(id))
          .map(({ id, name }) => ({ tenantId: id, name })),
      };
    },
  };
}
