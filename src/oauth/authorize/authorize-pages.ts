import { type MessagePageValues, messagePage } from "../../web/message-page.ts";
import type { Client } from "../clients.ts";
import { type LoginProblem, loginPage } from "../pages/login-page.ts";
import { basePath, pageBrand } from "../pages/page-brand.ts";
import { authorizePaths, type BrowserAnswer, callerOf } from "./browser.ts";
import { type LoginTicket, sealTicket } from "./login-ticket.ts";
import type { AuthorizationRequest } from "./request.ts";
import type { AuthorizeParts } from "./step.ts";

/** The pages that more than one step shows. */
export function authorizePages({ identity, clients, sealer, areOlderNodesGone, issuer }: AuthorizeParts) {
  const path = (name: keyof typeof authorizePaths) => basePath(issuer()) + authorizePaths[name];
  const brandOf = pageBrand(identity, issuer);

  async function message(status: number, values: MessagePageValues, client?: Client): Promise<BrowserAnswer> {
    const known = client && { brand: await brandOf(client.tenantId), clientName: client.name };
    const page = messagePage({ ...values, ...known });
    return { kind: "page", status, page, ...(client && { caller: callerOf(client) }) };
  }

  return {
    path,
    brandOf,
    message,
    expired: (client?: Client) => message(400, { kind: "expired" }, client),

    async login(
      client: Client,
      ticket: LoginTicket,
      { status = 200, username = "", problem }: LoginOptions = {},
    ): Promise<BrowserAnswer> {
      const page = loginPage({
        brand: await brandOf(client.tenantId),
        clientName: client.name,
        returnsTo: returnsTo(ticket.request),
        action: path("login"),
        hidden: { transaction: sealTicket(sealer, ticket, areOlderNodesGone()), csrf: ticket.csrf },
        username,
        problem,
      });
      return { kind: "page", status, page, caller: callerOf(client) };
    },

    /** The client of an earlier request, if it still exists with that redirect_uri and is not suspended. */
    async stillRegistered({ clientId, redirectUri }: AuthorizationRequest): Promise<Client | undefined> {
      const client = await clients.findClient(clientId);
      return client?.suspendedMs === null && client.redirectUris.includes(redirectUri) ? client : undefined;
    },
  };
}

interface LoginOptions {
  readonly status?: number;
  readonly username?: string;
  readonly problem?: LoginProblem;
}

export function returnsTo({ redirectUri }: AuthorizationRequest): string {
  return new URL(redirectUri).host;
}
