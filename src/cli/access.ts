import { BadParameter, NotFound, UnknownDevice, UnknownTrigger } from "../model/errors.ts";
import type { DeviceId, TenantId, TriggerId, UserId } from "../model/ids.ts";
import type { AdminAct, AdministrationParts } from "./admin-command.ts";
import { type Input, id, isGiven, optional } from "./input.ts";

/** Under this name the audit log and the list of clients show what commands did. */
const clientName = "Command line";

/**
 * Lets a command act at the service's own address, as any client does: it is given a token for one tenant, by a client
 * that belongs to the command line. Only who may open the control socket, or the store, gets here.
 */
export function accessAct(): AdminAct {
  /** One token serves many commands; it is checked before it is given again. */
  const given = new Map<TenantId, { readonly accessToken: string; readonly untilMs: number }>();

  async function tokenFor(parts: AdministrationParts, tenantId: TenantId): Promise<string> {
    const known = given.get(tenantId);
    if (known && performance.now() < known.untilMs) {
      const isGood = await parts.verify(known.accessToken).then(
        () => true,
        () => false,
      );
      if (isGood) return known.accessToken;
    }
    const client = await ownClient(parts, tenantId);
    const { accessToken, expiresInSeconds } = await parts.tokens.issueToClient(client, "command");
    given.set(tenantId, { accessToken, untilMs: performance.now() + (expiresInSeconds * 1_000) / 2 });
    return accessToken;
  }

  return {
    name: "access",
    async act(parts, input, service) {
      const { tenantId, userId } = await whoseHome(parts, input);
      const answer = { baseUrl: service?.baseUrl, accessToken: await tokenFor(parts, tenantId) };
      if (!isGiven(input, "as-user")) return { answer };
      const actingFor = userId ?? (await onlyUser(parts, tenantId));
      const secToken = await parts.identity.issueFor(actingFor);
      return {
        answer: { ...answer, secToken, userId: actingFor },
        changed: { tenantId, userId: actingFor, detail: { for: "user" } },
      };
    },
  };
}

async function ownClient({ clients }: AdministrationParts, tenantId: TenantId) {
  const known = (await clients.listClients(tenantId)).find(
    ({ name, kind }) => name === clientName && kind === "enterprise",
  );
  const wanted = { tenant: String(tenantId), name: clientName, kind: "enterprise", redirectUris: [] } as const;
  return known ?? (await clients.addClient({ ...wanted, requiresPkce: false })).client;
}

/** By what was named; without anything, the only tenant there is. */
async function whoseHome(
  parts: AdministrationParts,
  input: Input,
): Promise<{ readonly tenantId: TenantId; readonly userId?: UserId }> {
  const { identity } = parts;
  if (optional(input, "user") !== undefined) return identity.findUser(id<UserId>(input, "user"));
  if (optional(input, "device") !== undefined) return ownerOfDevice(parts, id<DeviceId>(input, "device"));
  if (optional(input, "alert") !== undefined) return ownerOfAlert(parts, id<TriggerId>(input, "alert"));
  const named = optional(input, "tenant");
  if (named !== undefined) return identity.findTenant(named);
  const [first, second] = await identity.listTenants();
  if (!first) throw new NotFound("There is no tenant yet. Add one with: breezeway tenant add --help");
  if (second) throw new BadParameter("tenant", "There are several tenants. Choose one with --tenant, or --user.");
  return first;
}

/** Whose device it is, in whichever tenant. */
export async function ownerOfDevice(
  { identity, devices }: Pick<AdministrationParts, "identity" | "devices">,
  deviceId: DeviceId,
) {
  for (const { tenantId } of await identity.listTenants()) {
    const device = await unless(UnknownDevice, devices.device({ kind: "enterprise", tenantId }, deviceId));
    if (device) return { tenantId, userId: device.userId };
  }
  throw new NotFound(`There is no device ${deviceId}. See all with: breezeway device list`);
}

async function ownerOfAlert({ identity, alerts }: AdministrationParts, alertId: TriggerId) {
  for (const { tenantId } of await identity.listTenants()) {
    const alert = await unless(UnknownTrigger, alerts.find({ kind: "enterprise", tenantId }, alertId));
    if (alert) return { tenantId, userId: alert.userId };
  }
  throw new NotFound(`There is no alert ${alertId}. See all with: breezeway alert list`);
}

async function onlyUser({ identity }: AdministrationParts, tenantId: TenantId): Promise<UserId> {
  const [first, second] = await identity.listUsers(tenantId);
  if (!first) throw new NotFound("There is no user yet. Add one with: breezeway user add --help");
  if (second)
    throw new BadParameter("user", "There are several users. Choose one with --user; see: breezeway user list");
  return first.userId;
}

/** Undefined in place of that one refusal. */
async function unless<Found>(refusal: new () => Error, work: Promise<Found>): Promise<Found | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof refusal) return undefined;
    throw error;
  }
}
