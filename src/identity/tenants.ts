import { BadParameter, Conflict, NotFound } from "../model/errors.ts";
import { parseId, type TenantId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { TenantRow } from "../store/tables/tenants.ts";
import { checkNewName, readName } from "./names.ts";

export interface Tenant {
  /** Also the tenant's `appId` in the platform calls. */
  readonly tenantId: TenantId;
  readonly name: string;
}

export interface Tenants {
  addTenant(tenant: { readonly name: string; readonly appId?: number }): Promise<Tenant>;
  /** Finds a tenant by its name or id. */
  findTenant(nameOrId: string): Promise<Tenant>;
  listTenants(): Promise<readonly Tenant[]>;
  /** The tenant, if there is exactly one. */
  onlyTenant(): Promise<Tenant | undefined>;
  renameTenant(tenantId: TenantId, name: string): Promise<Tenant>;
  /** Throws Conflict while the tenant has users or clients. */
  removeTenant(tenantId: TenantId): Promise<void>;
}

export function tenantsOn(store: Store<Pick<Transaction, "tenants">>): Tenants {
  return {
    async addTenant({ name: newName, appId }) {
      const name = checkTenantName(newName);
      const chosenId = appId === undefined ? undefined : checkAppId(appId);
      const tenantId = await store.transaction(async ({ tenants }) => {
        const added = await tenants.add(chosenId === undefined ? { name } : { name, id: chosenId });
        if (added === undefined) throw await conflictOf(tenants, name, chosenId);
        if (parseId(String(added)) === undefined) {
          throw new Conflict("The highest app id is taken. Choose a free one with --app-id.");
        }
        return added;
      });
      return { tenantId, name };
    },
    async findTenant(nameOrId) {
      const text = readName("tenant", nameOrId);
      const id = parseId<TenantId>(text);
      const row = await store.read(({ tenants }) => (id === undefined ? tenants.byName(text) : tenants.byId(id)));
      if (!row) throw new NotFound(`There is no tenant ${text}. See all with: breezeway tenant list`);
      return fromRow(row);
    },
    listTenants: async () => (await store.read(({ tenants }) => tenants.list())).map(fromRow),
    async onlyTenant() {
      const row = await store.read(({ tenants }) => tenants.only());
      return row && fromRow(row);
    },
    async renameTenant(tenantId, newName) {
      const stored = await store.read(({ tenants }) => tenants.byId(tenantId));
      const name = checkTenantName(newName, stored?.name);
      const isRenamed = await store.transaction(({ tenants }) => tenants.rename(tenantId, name));
      if (!isRenamed) throw new Conflict(`There is a tenant ${name} already.`);
      return { tenantId, name };
    },
    async removeTenant(tenantId) {
      const isRemoved = await store.transaction(({ tenants }) => tenants.remove(tenantId));
      if (!isRemoved) throw new Conflict(`Tenant ${tenantId} has users or clients. Remove those first.`);
    },
  };
}

/** A name of digits alone would be read as an id. */
export function checkTenantName(newName: string, storedName?: string): string {
  const name = checkNewName("name", readName("name", newName), storedName);
  if (/^\d+$/.test(name)) {
    throw new BadParameter("name", "A tenant's name must not be digits alone: those mean a tenant's id.");
  }
  return name;
}

function checkAppId(appId: number): TenantId {
  const id = parseId<TenantId>(String(appId));
  if (id === undefined) throw new BadParameter("appId", "The app id must be an integer from 1 to 2147483647.");
  return id;
}

async function conflictOf(tenants: Transaction["tenants"], name: string, id: TenantId | undefined) {
  if (await tenants.byName(name)) return new Conflict(`There is a tenant ${name} already.`);
  if (id !== undefined) return new Conflict(`The app id ${id} is taken. Leave it out to get a free one.`);
  return new Conflict("Another tenant was added at the same moment. Try again.");
}

function fromRow({ id, name }: TenantRow): Tenant {
  return { tenantId: id, name };
}
