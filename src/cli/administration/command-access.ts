import { BadParameter, NotFound, UnknownDevice, UnknownTrigger } from "../../model/errors.ts";
import type { DeviceId, TenantId, TriggerId, UserId } from "../../model/ids.ts";
import { commandClientName } from "../../oauth/command-tokens.ts";
import { hasFlag, type Input, id, optional } from "../input.ts";
import type { AdminAct, AdministrationParts } from "./admin-command.ts";

/** The client id in tokens of a tenant whose commands have added no webhook. */
const noClientId = "command-line";
/** The commands of a tenant get one audit entry in this time. */
const auditEveryMs = 30 * 60_000;

/**
 * Issues an access token with which a command calls the service as a client. The token is for one tenant and is not
 * stored. Only a user who can open the control socket or the store gets here. With `keeps` the command adds something
 * that a client must own, so the client is created if it is missing.
 */
export function accessAct(): AdminAct {
  const auditedMs = new Map<TenantId, number>();

  function needsAuditEntry(tenantId: TenantId): boolean {
    const nowMs = performance.now();
    if (nowMs - (auditedMs.get(tenantId) ?? Number.NEGATIVE_INFINITY) < auditEveryMs) return false;
    auditedMs.set(tenantId, nowMs);
    return true;
  }

  return {
    name: "access",
    async act(parts, input, service) {
      const { tenantId, userId } = await chosenOwner(parts, input);
      const clientId = await ownClient(parts, tenantId, hasFlag(input, "keeps"));
      const answer = { baseUrl: service?.baseUrl, accessToken: await parts.commandTokens.issue(tenantId, clientId) };
      if (!hasFlag(input, "as-user")) {
        return { answer, ...(needsAuditEntry(tenantId) && { changed: { tenantId, detail: { for: "tenant" } } }) };
      }
      const subjectId = userId ?? (await onlyUser(parts, tenantId));
      const secToken = await parts.identity.issueFor(subjectId);
      return {
        answer: { ...answer, secToken, userId: subjectId },
        changed: { tenantId, userId: subjectId, detail: { for: "user" } },
      };
    },
  };
}

/** The client of a tenant that owns what commands and operators make. */
export async function ownClient(
  { clients }: Pick<AdministrationParts, "clients">,
  tenantId: TenantId,
  isNeeded: boolean,
): Promise<string> {
  const known = (await clients.listClients(tenantId)).find(
    ({ name, kind }) => name === commandClientName && kind === "enterprise",
  );
  if (known) return known.id;
  if (!isNeeded) return noClientId;
  const registration = {
    tenant: String(tenantId),
    name: commandClientName,
    kind: "enterprise",
    redirectUris: [],
  } as const;
  return (await clients.addClient({ ...registration, requiresPkce: false })).client.id;
}

/** The tenant that the input names, or that of the user, device or alert that it names; otherwise the only tenant. */
async function chosenOwner(
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

/** The owner of a device in any tenant. */
export async function ownerOfDevice(
  { identity, devices }: Pick<AdministrationParts, "identity" | "devices">,
  deviceId: DeviceId,
) {
  for (const { tenantId } of await identity.listTenants()) {
    const device = await undefinedOn(UnknownDevice, devices.device({ kind: "enterprise", tenantId }, deviceId));
    if (device) return { tenantId, userId: device.userId };
  }
  throw new NotFound(`There is no device ${deviceId}. See all with: breezeway device list`);
}

async function ownerOfAlert({ identity, alerts }: AdministrationParts, alertId: TriggerId) {
  for (const { tenantId } of await identity.listTenants()) {
    const scope = { kind: "enterprise", tenantId } as const;
    const alert =
      (await undefinedOn(UnknownTrigger, alerts.find(scope, alertId))) ??
      (await undefinedOn(UnknownTrigger, alerts.onThings.find(scope, alertId)));
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

/** Undefined if the work fails with this error. */
async function undefinedOn<Found>(refusal: new () => Error, work: Promise<Found>): Promise<Found | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof refusal) return undefined;
    throw error;
  }
}
