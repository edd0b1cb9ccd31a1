import { newSecret } from "../../identity/secrets.ts";
import { type MessagePageValues, messagePage } from "../../web/message-page.ts";
import type { Client } from "../clients.ts";
import { type LoginProblem, loginPage } from "../pages/login-page.ts";
import { basePath, pageBrand } from "../pages/page-brand.ts";
import { authorizePaths, type BrowserAnswer, callerOf, type Visit } from "./browser.ts";
import { clientRedirectUrl, denied } from "./client-redirect.ts";
import { type LoginTicket, newLoginTicket, type RequestTicket, sealTicket } from "./login-ticket.ts";
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

  function redirectUrl(
    client: Client,
    { redirectUri, state }: ReturnTarget,
    parameters: Readonly<Record<string, string>>,
  ): string {
    return clientRedirectUrl(redirectUri, client.sendsIssuer ? issuer() : undefined, { ...parameters, state });
  }

  async function login(
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
  }

  return {
    path,
    brandOf,
    message,
    redirectUrl,
    login,
    expired: (client?: Client) => message(400, { kind: "expired" }, client),

    /** The sign-in has expired before a decision. The link tells the client that it got no access. */
    expiredLogin: (client: Client, request: AuthorizationRequest) =>
      message(400, { kind: "expired", backUrl: redirectUrl(client, request, denied.expired) }, client),

    /** A new login page, with the cookie of its browser. */
    async newLogin(client: Client, { request, expiresMs }: RequestTicket, visit: Visit): Promise<BrowserAnswer> {
      // An existing cookie is kept: a second login page in another tab must not invalidate the first.
      const browserSecret = isSecret(visit.browserSecret) ? visit.browserSecret : newSecret("");
      return { ...(await login(client, newLoginTicket(request, browserSecret, expiresMs))), browserSecret };
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

/** Where the browser returns to the client. */
type ReturnTarget = Pick<AuthorizationRequest, "redirectUri"> & { readonly state: string | undefined };

function isSecret(text: string | undefined): text is string {
  return text !== undefined && /^[A-Za-z0-9_-]{43}$/.test(text);
}

export function returnsTo({ redirectUri }: AuthorizationRequest): string {
  return new URL(redirectUri).host;
}
