import { type Client, readClientPlan } from "../clients/client.ts";
import { defaultClient } from "../clients/clients.ts";
import { type Permissions, readPermissions } from "../clients/permissions.ts";
import type { Ecosystem } from "../ecosystem.ts";
import { isJsonObject, type Json } from "../home/json.ts";
import { type Call, readJson, sendJson } from "../http/call.ts";
import { badArgument } from "../refusal.ts";

export function listClients({ clients }: Ecosystem, call: Call): void {
  sendJson(call, 200, { clients: clients.all.map(summaryOf) });
}

/** The only answer with the client's secret. */
export async function registerClient(ecosystem: Ecosystem, call: Call): Promise<void> {
  sendJson(call, 201, ecosystem.access.registerClient(readClientPlan(await readJson(call, {}))));
}

/** Changes the permissions that the client requests from now on. Existing grants keep theirs. */
export async function changeClient(ecosystem: Ecosystem, call: Call, clientId: string): Promise<void> {
  const { permissions } = readChange(await readJson(call));
  ecosystem.access.setClientPermissions(clientId, permissions);
  sendJson(call, 200, summaryOf(ecosystem.clients.get(clientId)));
}

/** Changes a client's permissions for an account: `{"permissions", "clientId"}`; the default client when left out. */
export async function changeGrants(ecosystem: Ecosystem, call: Call, accountId: string): Promise<void> {
  const account = ecosystem.accounts.get(accountId);
  const { permissions, clientId } = readChange(await readJson(call));
  ecosystem.clients.get(clientId);
  sendJson(call, 200, { permissions, streams: ecosystem.access.changePermissions(account, clientId, permissions) });
}

export function readClientId(body: Json): string {
  const clientId = (isJsonObject(body) ? body.clientId : null) ?? defaultClient.clientId;
  if (typeof clientId !== "string") throw badArgument("clientId must be a text.");
  return clientId;
}

function readChange(body: Json): { permissions: Permissions; clientId: string } {
  if (!isJsonObject(body) || body.permissions === undefined) {
    throw badArgument("permissions must be given, as a list.");
  }
  return { permissions: readPermissions(body.permissions), clientId: readClientId(body) };
}

function summaryOf({ clientId, name, returnsTo, permissions }: Client) {
  const isDefault = clientId === defaultClient.clientId;
  const redirectUri = returnsTo.kind === "exact" ? returnsTo.uri : null;
  // The default client's secret is public: it is the same in every simulator.
  const secret = isDefault ? { clientSecret: defaultClient.clientSecret } : {};
  return { clientId, ...secret, name, redirectUri, permissions, isDefault };
}
