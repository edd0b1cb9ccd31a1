import type { Identity } from "../../identity/identity.ts";
import { NotFound, OperatorForbidden } from "../../model/errors.ts";
import type { TenantId } from "../../model/ids.ts";
import type { AdministrationParts } from "./admin-command.ts";
import { homeAlertsWithin } from "./homes/home-alerts.ts";
import { homeDevicesWithin } from "./homes/home-devices.ts";
import { homeEventsWithin } from "./homes/home-events.ts";
import { homesWithin } from "./homes/home-parts.ts";

/**
 * The parts for an operator who reaches only these tenants; undefined: all. Whatever belongs to another tenant is as if it
 * did not exist, so every act stays within the tenants without knowing about them. Parts of the whole deployment refuse.
 */
export function partsWithin(
  parts: AdministrationParts,
  tenantIds: readonly TenantId[] | undefined,
): AdministrationParts {
  if (tenantIds === undefined) return parts;
  const isReached = (tenantId: TenantId) => tenantIds.includes(tenantId);
  const identity = identityWithin(parts.identity, tenantIds, isReached);
  const refuse = async () => {
    throw new OperatorForbidden();
  };
  const { clients, assistants } = parts;
  /** Acts choose clients and outlets from these lists; an id from anywhere else is checked again. */
  const listClients: typeof clients.listClients = async (tenantId) =>
    (await clients.listClients(tenantId)).filter((client) => isReached(client.tenantId));
  const checkClient = async (clientId: string) => {
    if (!(await listClients()).some(({ id }) => id === clientId)) throw new NotFound("There is no such client.");
  };
  return {
    ...parts,
    identity,
    operators: { ...parts.operators, namesOf: (wanted) => parts.operators.namesOf(wanted, tenantIds) },
    clients: {
      listClients,
      async addClient(client) {
        await identity.findTenant(client.tenant);
        return clients.addClient(client);
      },
      async grantsByScope(clientId) {
        await checkClient(clientId);
        return clients.grantsByScope(clientId);
      },
      async editClient(clientId, change) {
        await checkClient(clientId);
        return clients.editClient(clientId, change);
      },
      async rotateSecret(clientId, overlapMs) {
        await checkClient(clientId);
        return clients.rotateSecret(clientId, overlapMs);
      },
      async suspendClient(clientId) {
        await checkClient(clientId);
        return clients.suspendClient(clientId);
      },
      async resumeClient(clientId) {
        await checkClient(clientId);
        return clients.resumeClient(clientId);
      },
      async removeClient(clientId) {
        await checkClient(clientId);
        return clients.removeClient(clientId);
      },
    },
    webhooks: {
      ...parts.webhooks,
      list: ({ tenantIds: wanted, ...question }) =>
        parts.webhooks.list({ ...question, tenantIds: wanted?.filter(isReached) ?? tenantIds }),
    },
    assistants: {
      ...assistants,
      outlets: {
        ...assistants.outlets,
        async add(outlet) {
          await identity.findTenant(outlet.tenant);
          return assistants.outlets.add(outlet);
        },
        list: async (tenantId) =>
          (await assistants.outlets.list(tenantId)).filter((outlet) => isReached(outlet.tenantId)),
      },
    },
    requests: { find: (filter, limit) => parts.requests.find({ ...filter, tenantIds }, limit) },
    links: refuse,
    foundLinks: ({ tenantIds: wanted, ...filter }) =>
      parts.foundLinks({ ...filter, tenantIds: wanted?.filter(isReached) ?? tenantIds }),
    linkCounts: (wanted) => parts.linkCounts(wanted?.filter(isReached) ?? tenantIds),
    blindTimes: (links, withinMs) =>
      parts.blindTimes(
        links.filter(({ tenantId }) => isReached(tenantId)),
        withinMs,
      ),
    activity: (wanted) => parts.activity(wanted?.filter(isReached) ?? tenantIds),
    deployment: undefined,
    homes: homesWithin(parts.homes, tenantIds, (userId) => identity.findUser(userId)),
    homeAlerts: homeAlertsWithin(parts.homeAlerts, tenantIds, (userId) => identity.findUser(userId)),
    homeDevices: homeDevicesWithin(parts.homeDevices, (userId) => identity.findUser(userId)),
    homeSearch: { find: (text, wanted) => parts.homeSearch.find(text, wanted.filter(isReached)) },
    homeEvents: homeEventsWithin(parts.homeEvents, tenantIds),
    backup: refuse,
    recordBackup: refuse,
    compact: refuse,
    beginEpoch: refuse,
    verifications: { list: refuse, find: refuse, start: refuse, keep: refuse },
    keys: { list: refuse, add: refuse, rotate: refuse, prune: refuse, drop: refuse },
  };
}

function identityWithin(
  identity: Identity,
  tenantIds: readonly TenantId[],
  isReached: (tenantId: TenantId) => boolean,
): Identity {
  const reached = ({ tenantIds: wanted, ...filter }: Parameters<Identity["audit"]["list"]>[0]) => {
    return { ...filter, tenantIds: wanted?.filter(isReached) ?? tenantIds };
  };
  return {
    ...identity,
    async findTenant(nameOrId) {
      const tenant = await identity.findTenant(nameOrId);
      if (!isReached(tenant.tenantId)) {
        throw new NotFound(`There is no tenant ${nameOrId}. See all with: breezeway tenant list`);
      }
      return tenant;
    },
    listTenants: async () => (await identity.listTenants()).filter(({ tenantId }) => isReached(tenantId)),
    addTenant: async () => {
      throw new OperatorForbidden();
    },
    async renameTenant(tenantId, name) {
      if (!isReached(tenantId)) throw new OperatorForbidden();
      return identity.renameTenant(tenantId, name);
    },
    async findUser(userId) {
      const user = await identity.findUser(userId);
      if (!isReached(user.tenantId)) {
        throw new NotFound(`There is no user ${userId}. See all with: breezeway user list`);
      }
      return user;
    },
    listUsers: async (tenantId) => (await identity.listUsers(tenantId)).filter((user) => isReached(user.tenantId)),
    searchUsers: ({ tenantIds: wanted, ...question }) =>
      identity.searchUsers({ ...question, tenantIds: wanted?.filter(isReached) ?? tenantIds }),
    audit: {
      ...identity.audit,
      list: (filter) => identity.audit.list(reached(filter)),
      page: (filter) => identity.audit.page(reached(filter)),
    },
  };
}
